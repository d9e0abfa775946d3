// The scenarios of the binding to Go.
//
// The kernel asks the driver about the calls of one thread, the initial one, on which main runs all scenarios: the threads on which Go's
// scheduler and its collector run are made by others.
package main

// #cgo pkg-config: runloop
// #include "scenarios.h"
import "C"

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
)

func init() { runtime.LockOSThread() }

func main() {
	time.Sleep(1) // Makes the scheduler's own epoll set, without which Go ends the program.
	words := []*C.char{nil}
	for i, word := range os.Args[1:] {
		words = append(words[:i], C.CString(word), nil)
	}
	if !C.try_scenarios(C.int(len(words)-1), &words[0]) {
		os.Exit(1)
	}
}

// A told is what a scenario panics with when it was told an error.
type told struct{ error }

// try is for each error that the binding returns.
func try(err error) {
	if err != nil {
		panic(told{err})
	}
}

// lost is what a scenario panics with when it was not told why something did not work.
var lost = errors.New("lost")

func expect(condition bool) {
	if !condition {
		panic(lost)
	}
}

// own does what the scenario does itself in between, which does not fail.
func own(do func()) {
	C.pause_faults()
	defer C.begin_faults()
	do()
}

// run is a scenario from its begin to its end.
func run(scenario func()) (outcome C.enum_outcome) {
	defer release()
	defer func() {
		value := recover()
		if value == nil {
			return
		}
		outcome = C.LOST
		var number syscall.Errno
		if t, is := value.(told); is && errors.As(t.error, &number) {
			outcome = C.told(-C.int(number))
		} else if value != lost {
			fmt.Fprintln(os.Stderr, value)
		}
	}()
	C.begin_faults()
	scenario()
	return C.AS_EXPECTED
}

// release waits until the finalizers of what the scenario had were called: those of sources once their callbacks, which refer to others,
// were collected.
func release() {
	C.pause_faults()
	for i := 0; i < 3; i++ {
		done := make(chan struct{})
		runtime.SetFinalizer(new([64]int), func(*[64]int) { close(done) })
		runtime.GC()
		<-done
	}
}
