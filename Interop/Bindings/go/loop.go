// Package runloop is librunloop in Go: modes, timers, sources, observers, posts from other goroutines, nested runs.
//
// A loop belongs to an operating system's thread, and a goroutine may move between threads. So a goroutine that asks for its loop,
// adds to it or runs it must be locked to its thread by runtime.LockOSThread, and stay so as long as the loop exists: On does it
// all. Other goroutines may make any call but Current, Run and EndCurrent.
//
// Callbacks are called by the goroutine that runs the loop. A panic in one ends the innermost run, which panics with a
// *CallbackPanic. A callback must not call runtime.Goexit, which ends the program then; testing's FailNow and Fatal do so.
package runloop

// #cgo pkg-config: runloop
// #include "bridge.h"
import "C"

import (
	"math"
	"os"
	"runtime"
	"runtime/cgo"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// A Mode is a set of items that is run together.
type Mode string

// The modes of the library. CommonModes stands for all modes that were declared common.
const (
	DefaultMode Mode = C.RUNLOOP_DEFAULT_MODE
	CommonModes Mode = C.RUNLOOP_COMMON_MODES
)

// Forever is the limit that is never reached, and the interval of a timer that is set by hand each time.
const Forever time.Duration = math.MaxInt64

// A Result says why a run ended.
type Result int

// The results.
const (
	Finished      Result = C.RUNLOOP_RESULT_FINISHED // nothing can ever happen in the mode
	Stopped       Result = C.RUNLOOP_RESULT_STOPPED
	TimedOut      Result = C.RUNLOOP_RESULT_TIMED_OUT
	HandledSource Result = C.RUNLOOP_RESULT_HANDLED_SOURCE // and the caller had asked to return then
)

var names sync.Map // of C names by Mode, for ever

// name is nil for a mode that can't exist, which C rejects.
func (mode Mode) name() *C.char {
	if name, found := names.Load(mode); found {
		return name.(*C.char)
	}
	text, err := syscall.BytePtrFromString(string(mode))
	if err != nil {
		return nil
	}
	name := C.runloop_mode_name((*C.char)(unsafe.Pointer(text)))
	if name != nil {
		names.Store(mode, name)
	}
	return name
}

// check is the error of a C function's result, a syscall.Errno.
func check(outcome C.int) error {
	if outcome < 0 {
		return syscall.Errno(-outcome)
	}
	return nil
}

// A Loop refers to a thread's loop. It may be kept longer than the thread: then additions and posts return syscall.ESHUTDOWN, and
// other calls do nothing.
type Loop struct{ c *C.runloop }

// Current is the loop of the calling goroutine's thread, to which it must be locked.
func Current() (*Loop, error) {
	c := C.runloop_retain(C.runloop_current())
	if c == nil {
		return nil, syscall.ENOMEM
	}
	loop := &Loop{c}
	runtime.SetFinalizer(loop, func(loop *Loop) { C.runloop_release(loop.c) })
	return loop, nil
}

// On calls work with the loop of a thread of its own, and ends the loop and the thread after that: what is in the loop then is
// released, and what was posted and not yet called never is. It returns when that is done, and panics if work did.
func On(work func(loop *Loop)) error {
	var err error
	var failure interface{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { failure = recover() }()
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if syscall.Gettid() == os.Getpid() {
			// The initial thread, which never ends, nor does its loop. While it waits here, nobody else gets it.
			defer runtime.UnlockOSThread()
			err = On(work)
			return
		}
		defer C.runloop_end_current()
		var loop *Loop
		if loop, err = Current(); err == nil {
			work(loop)
		}
	}()
	<-done
	if failure != nil {
		panic(failure)
	}
	return err
}

// EndCurrent ends the calling thread's loop, for a goroutine that unlocks its thread afterwards. syscall.EBUSY inside a run,
// syscall.EPERM on the initial thread.
func EndCurrent() error { return check(C.runloop_end_current()) }

// Run runs the calling thread's loop in the default mode until it is stopped or has nothing left.
func Run() (Result, error) { return RunInMode(DefaultMode, Forever, false) }

// RunInMode runs the calling thread's loop, nested if it runs already; a limit of 0 is one iteration, which does not sleep.
func RunInMode(mode Mode, limit time.Duration, returnAfterSourceHandled bool) (Result, error) {
	loop := C.runloop_current()
	beginRun(loop)
	outcome := C.runloop_run_in_mode(mode.name(), C.int64_t(limit), C.bool(returnAfterSourceHandled))
	if p := endRun(loop); p != nil {
		panic(p)
	}
	return Result(outcome), check(outcome)
}

// Post has the loop's thread call a function once, when it runs in the mode; it wakes the loop. The function is never called if
// the thread ends before.
func (loop *Loop) Post(mode Mode, call func()) error { return loop.enqueue(mode, call, true) }

// Perform is Post, but does not wake the loop.
func (loop *Loop) Perform(mode Mode, call func()) error { return loop.enqueue(mode, call, false) }

func (loop *Loop) enqueue(mode Mode, call func(), wakes bool) error {
	defer runtime.KeepAlive(loop)
	handle := cgo.NewHandle(call)
	err := check(C.bridge_post(loop.c, mode.name(), C.uintptr_t(handle), C.bool(wakes)))
	if err != nil {
		handle.Delete()
	}
	return err
}

// Stop ends the innermost active run; nothing is remembered if there is none.
func (loop *Loop) Stop() {
	C.runloop_stop(loop.c)
	runtime.KeepAlive(loop)
}

// StopLatched is Stop, remembered for the next run if there is none.
func (loop *Loop) StopLatched() {
	C.runloop_stop_latched(loop.c)
	runtime.KeepAlive(loop)
}

// StopMode ends a run in the mode, now or later.
func (loop *Loop) StopMode(mode Mode) error {
	defer runtime.KeepAlive(loop)
	return check(C.runloop_stop_mode(loop.c, mode.name()))
}

// WakeUp ends one sleep.
func (loop *Loop) WakeUp() {
	C.runloop_wake_up(loop.c)
	runtime.KeepAlive(loop)
}

// IsWaiting says whether the loop sleeps, or is about to.
func (loop *Loop) IsWaiting() bool {
	defer runtime.KeepAlive(loop)
	return bool(C.runloop_is_waiting(loop.c))
}

// AddCommonMode makes a mode common.
func (loop *Loop) AddCommonMode(mode Mode) error {
	defer runtime.KeepAlive(loop)
	return check(C.runloop_add_common_mode(loop.c, mode.name()))
}

// Add adds an item to a mode, in which it may be already. Afterwards the loop keeps it, until it is invalidated or removed, or the
// thread ends.
func (loop *Loop) Add(item Item, mode Mode) error {
	defer runtime.KeepAlive(item)
	defer runtime.KeepAlive(loop)
	return check(item.add(loop.c, mode.name()))
}

// Remove removes an item from a mode.
func (loop *Loop) Remove(item Item, mode Mode) error {
	defer runtime.KeepAlive(item)
	defer runtime.KeepAlive(loop)
	return check(item.remove(loop.c, mode.name()))
}

// Contains says whether an item is in a mode.
func (loop *Loop) Contains(item Item, mode Mode) bool {
	defer runtime.KeepAlive(item)
	defer runtime.KeepAlive(loop)
	return bool(item.isIn(loop.c, mode.name()))
}
