package main

// #include "scenarios.h"
import "C"

import (
	"errors"
	"syscall"
	"time"

	"runloop"
)

const (
	mode      runloop.Mode = "faults"
	innerMode runloop.Mode = "inner"
)

func current() *runloop.Loop {
	loop, err := runloop.Current()
	try(err)
	return loop
}

// runUntil runs the mode until the condition holds, for three seconds at most.
func runUntil(condition func() bool) {
	for end := time.Now().Add(3 * time.Second); !condition() && time.Now().Before(end); {
		result, err := runloop.RunInMode(mode, 4*time.Millisecond, true)
		try(err)
		if result == runloop.Finished {
			time.Sleep(time.Millisecond)
		}
	}
}

//export fires
func fires() C.bool {
	fired := false
	timer, err := runloop.NewTimer(time.Millisecond, runloop.TimerOptions{}, func() { fired = true })
	if err != nil || current().Add(timer, "after") != nil {
		return false
	}
	_, err = runloop.RunInMode("after", 10*time.Second, false)
	return C.bool(fired && err == nil)
}

//export aTimer
func aTimer() C.enum_outcome {
	return run(func() {
		loop, fired := current(), 0
		timer, err := runloop.NewTimer(time.Millisecond, runloop.TimerOptions{}, func() { fired++ })
		try(err)
		defer timer.Invalidate()
		try(loop.Add(timer, mode))
		runUntil(func() bool { return fired == 1 })
		expect(fired == 1 && !loop.Contains(timer, mode))
	})
}

//export repeatingTimers
func repeatingTimers() C.enum_outcome {
	return run(func() {
		loop, fired, moved := current(), 0, 0
		options := runloop.TimerOptions{Interval: time.Millisecond, Tolerance: time.Millisecond / 2}
		first, err := runloop.NewTimer(time.Millisecond, options, func() { fired++ })
		try(err)
		defer first.Invalidate()
		second, err := runloop.NewTimer(time.Hour, runloop.TimerOptions{Interval: time.Hour}, func() { moved++ })
		try(err)
		defer second.Invalidate()
		try(loop.Add(first, mode))
		try(loop.Add(second, mode))
		try(second.FireAfter(0))
		runUntil(func() bool { return fired >= 3 && moved == 1 })
		expect(fired >= 3 && moved == 1)
	})
}

//export aSignalledSource
func aSignalledSource() C.enum_outcome {
	return run(func() {
		loop, performed := current(), 0
		source, err := runloop.NewSource(0, func() { performed++ })
		try(err)
		defer source.Invalidate()
		try(loop.AddCommonMode(mode))
		try(loop.Add(source, runloop.CommonModes))
		source.Signal()
		runUntil(func() bool { return performed == 1 })
		expect(performed == 1)
	})
}

//export aDescriptor
func aDescriptor() C.enum_outcome {
	return run(func() {
		var pipe [2]int
		own(func() { try(syscall.Pipe2(pipe[:], syscall.O_CLOEXEC)) })
		defer syscall.Close(pipe[0])
		defer syscall.Close(pipe[1])
		loop, calls := current(), 0
		source, err := runloop.NewDescriptorSource(pipe[0], runloop.Readable, func(now runloop.Readiness) { calls++ })
		try(err)
		defer source.Invalidate()
		try(loop.Add(source, mode))
		own(func() { syscall.Write(pipe[1], []byte("a")) })
		runUntil(func() bool { return calls > 0 })
		try(source.SetEvents(0))
		calls = 0
		_, err = runloop.RunInMode(mode, 0, false)
		try(err)
		expect(calls == 0)
		try(source.SetEvents(runloop.Readable))
		runUntil(func() bool { return calls > 0 })
		expect(calls > 0)
	})
}

//export anObserver
func anObserver() C.enum_outcome {
	return run(func() {
		loop, fired := current(), false
		var seen runloop.Activity
		observer, err := runloop.NewObserver(runloop.AllActivities, 0, func(now runloop.Activity) { seen |= now })
		try(err)
		defer observer.Invalidate()
		try(loop.Add(observer, mode))
		timer, err := runloop.NewTimer(time.Millisecond, runloop.TimerOptions{}, func() { fired = true })
		try(err)
		defer timer.Invalidate()
		try(loop.Add(timer, mode))
		runUntil(func() bool { return fired })
		expect(fired && seen&runloop.Entry != 0 && seen&runloop.Exit != 0)
	})
}

//export callsOfAnotherGoroutine
func callsOfAnotherGoroutine() C.enum_outcome {
	return run(func() {
		loop, order := current(), ""
		results := make(chan error, 2)
		go func() {
			results <- loop.Post(mode, func() { order += "1" })
			results <- loop.Perform(mode, func() { order += "2" })
			loop.WakeUp()
		}()
		first, second := <-results, <-results
		runUntil(func() bool { return first != nil || second != nil || order == "12" })
		try(first)
		try(second)
		expect(order == "12")
	})
}

//export aLoopOnAThreadOfItsOwn
func aLoopOnAThreadOfItsOwn() C.enum_outcome {
	return run(func() {
		fired := false
		var failure interface{}
		try(runloop.On(func(loop *runloop.Loop) {
			defer func() { failure = recover() }()
			timer, err := runloop.NewTimer(time.Millisecond, runloop.TimerOptions{}, func() { fired = true })
			try(err)
			try(loop.Add(timer, mode))
			try(loop.Post("never run", func() {}))
			runUntil(func() bool { return fired })
		}))
		if failure != nil {
			panic(failure)
		}
		expect(fired)
	})
}

//export aNestedRun
func aNestedRun() C.enum_outcome {
	return run(func() {
		loop, order := current(), ""
		for _, each := range []runloop.Mode{mode, innerMode} {
			source, err := runloop.NewSource(0, func() {})
			try(err)
			defer source.Invalidate()
			try(loop.Add(source, each))
		}
		var failure error
		try(loop.Post(mode, func() {
			defer loop.Stop()
			if failure = loop.Post(innerMode, func() { order += "inner "; loop.Stop() }); failure != nil {
				return
			}
			var result runloop.Result
			if result, failure = runloop.RunInMode(innerMode, 3*time.Second, false); result == runloop.Stopped {
				order += "outer"
			}
		}))
		_, err := runloop.RunInMode(mode, 3*time.Second, false)
		try(err)
		try(failure)
		expect(order == "inner outer")
	})
}

//export aPanicOfACallback
func aPanicOfACallback() C.enum_outcome {
	return run(func() {
		loop, cause := current(), errors.New("deliberate")
		timer, err := runloop.NewTimer(time.Millisecond, runloop.TimerOptions{}, func() { panic(cause) })
		try(err)
		defer timer.Invalidate()
		try(loop.Add(timer, mode))
		defer func() {
			value := recover()
			if p, is := value.(*runloop.CallbackPanic); !is {
				panic(value)
			} else {
				expect(p.Value == cause)
			}
		}()
		runUntil(func() bool { return !timer.IsValid() })
		expect(false)
	})
}
