package runloop

// #include "bridge.h"
import "C"

import (
	"fmt"
	"os"
	"runtime/cgo"
	"runtime/debug"
	"sync"
)

// A callback is what a handle stands for. An item that is invalidated lets its function go at once, since C may release the handle
// of a source only when nobody refers to the source any more, which the function itself may do. So does a timer that has fired for the
// last time, with its handle: Go collects no cycle in which something has a finalizer.
type callback struct {
	lock sync.Mutex
	call func(argument uint32)
}

func (callback *callback) function() func(uint32) {
	callback.lock.Lock()
	defer callback.lock.Unlock()
	return callback.call
}

func (callback *callback) clear() {
	callback.lock.Lock()
	defer callback.lock.Unlock()
	callback.call = nil
}

//export goCall
func goCall(handle C.uintptr_t, argument C.uint32_t) {
	if call := cgo.Handle(handle).Value().(*callback).function(); call != nil {
		guarded(func() { call(uint32(argument)) })
	}
}

//export goCallAndDelete
func goCallAndDelete(handle C.uintptr_t) {
	call := cgo.Handle(handle).Value().(func())
	cgo.Handle(handle).Delete()
	guarded(call)
}

//export goDelete
func goDelete(handle C.uintptr_t) {
	if kept, isItems := cgo.Handle(handle).Value().(*callback); isItems {
		kept.clear()
	}
	cgo.Handle(handle).Delete()
}

// A CallbackPanic is what Run panics with after a callback has panicked.
type CallbackPanic struct {
	Value interface{} // what the callback panicked with
	Stack []byte      // where
}

func (p *CallbackPanic) Error() string {
	return fmt.Sprintf("%v\n\nin a callback of a run loop:\n%s", p.Value, p.Stack)
}

// runs has for each loop its active runs, the innermost one last, with the panic that is to come out of each.
var runs = struct {
	sync.Mutex
	active map[*C.runloop][]*CallbackPanic
}{active: map[*C.runloop][]*CallbackPanic{}}

func beginRun(loop *C.runloop) {
	runs.Lock()
	defer runs.Unlock()
	runs.active[loop] = append(runs.active[loop], nil)
}

func endRun(loop *C.runloop) *CallbackPanic {
	runs.Lock()
	defer runs.Unlock()
	active := runs.active[loop]
	last := len(active) - 1
	if last == 0 {
		delete(runs.active, loop)
	} else {
		runs.active[loop] = active[:last]
	}
	return active[last]
}

// carry ends the innermost run, which panics; it has the first panic only. False outside of runs.
func carry(p *CallbackPanic) bool {
	loop := C.runloop_current()
	runs.Lock()
	active := runs.active[loop]
	if len(active) > 0 && active[len(active)-1] == nil {
		active[len(active)-1] = p
	}
	runs.Unlock()
	C.runloop_stop(loop)
	return len(active) > 0
}

// guarded calls a function whose panic must not jump over the frames of C.
func guarded(call func()) {
	returned := false
	defer func() {
		if returned {
			return
		}
		value := recover()
		if value == nil {
			fmt.Fprintln(os.Stderr, "runloop: runtime.Goexit, or panic(nil), in a callback of a run loop, which must return.")
			os.Exit(2)
		}
		if !carry(&CallbackPanic{value, debug.Stack()}) {
			panic(value)
		}
	}()
	call()
	returned = true
}
