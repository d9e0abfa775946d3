// hosted.go — a run loop whose host is Go: a goroutine's select waits for the loop as for its channels, and no thread waits besides.
//
//	go run hosted.go    finds librunloop by pkg-config
package main

/*
#cgo pkg-config: runloop
#include <errno.h>
#include <runloop.h>

extern void goFire(runloop_timer *timer, void *info);

// C keeps a number, the handle of a closure, since it may not keep a pointer to Go's memory.
static inline int make_timer(int64_t first_ns, int64_t interval_ns, uintptr_t closure, runloop_timer **timer) {
    runloop_timer_config config = {.context.info = (void *)closure, .fire_ns = first_ns, .interval_ns = interval_ns, .fire = goFire};
    return runloop_timer_create(&config, timer);
}
static inline int add_timer(runloop_timer *timer) { return runloop_add_timer(runloop_current(), timer, RUNLOOP_DEFAULT_MODE); }
static inline int hosted_begin(void) { return runloop_hosted_begin(RUNLOOP_DEFAULT_MODE); }
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"runtime/cgo"
	"syscall"
	"time"
	"unsafe"
)

// Called by the loop, on its thread. A panic must not leave it: there are frames of C below.
//
//export goFire
func goFire(timer *C.runloop_timer, info unsafe.Pointer) {
	cgo.Handle(info).Value().(func())()
}

func check(what string, result C.int) {
	if result < 0 {
		panic(fmt.Sprintf("%s: %v", what, syscall.Errno(-result)))
	}
}

// A channel with an element whenever the descriptor has become readable. Go's poller waits for it, edge-triggered.
func readiness(descriptor C.int) (chan struct{}, error) {
	check("the descriptor of the run", descriptor)
	duplicate, err := syscall.Dup(int(descriptor)) // which Go may close
	if err == nil {
		err = syscall.SetNonblock(duplicate, true) // for others it would block a thread
	}
	if err != nil {
		return nil, err
	}
	connection, err := os.NewFile(uintptr(duplicate), "run loop").SyscallConn()
	if err != nil {
		return nil, err
	}
	ready := make(chan struct{}, 1)
	go connection.Read(func(uintptr) bool {
		wake(ready)
		return false // wait for the next edge
	})
	return ready, nil
}

func wake(ready chan struct{}) {
	select {
	case ready <- struct{}{}:
	default: // it is awake
	}
}

// A loop belongs to a thread, and goroutines move between threads. From here on main has the initial one, whose loop lasts as long as the process;
// another goroutine locks its thread itself, and calls runloop_end_current before it unlocks it.
func init() { runtime.LockOSThread() }

func main() {
	ready, err := readiness(C.runloop_hosted_descriptor())
	if err != nil {
		panic(err)
	}

	var timer *C.runloop_timer
	ticks, interval := 0, C.int64_t(10*time.Millisecond)
	closure := cgo.NewHandle(func() {
		ticks++
		fmt.Println("tick", ticks)
		if ticks == 3 {
			C.runloop_stop(C.runloop_current())
		}
	})
	check("a timer", C.make_timer(C.runloop_now_ns()+interval, interval, C.uintptr_t(closure), &timer))
	check("a timer in the loop", C.add_timer(timer))
	words := make(chan string)
	go func() { words <- "a word from a goroutine" }()

	result := C.hosted_begin()
	for result == 0 || result == -C.EAGAIN {
		select {
		case word := <-words:
			fmt.Println(word)
		case <-ready:
			if result = C.runloop_hosted_iterate(C.int64_t(time.Millisecond)); result == -C.EAGAIN {
				wake(ready) // There is more to do, and the channels have their turn.
			}
		}
	}
	check("the run", result)
	C.runloop_timer_invalidate(timer)
	C.runloop_timer_release(timer)
	closure.Delete()
	fmt.Println("the run was stopped:", result == C.RUNLOOP_RESULT_STOPPED)
}
