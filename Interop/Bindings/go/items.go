package runloop

// #include "bridge.h"
import "C"

import (
	"runtime"
	"runtime/cgo"
	"time"
)

// An Item is a Timer, a Source, a DescriptorSource or an Observer.
type Item interface {
	// Invalidate ends the item for ever. Idempotent, and allowed in its own callback; it does not wait for one that runs on another
	// thread.
	Invalidate()
	IsValid() bool
	add(loop *C.runloop, mode *C.char) C.int
	remove(loop *C.runloop, mode *C.char) C.int
	isIn(loop *C.runloop, mode *C.char) C.bool
}

// create makes an item's callback known to C, which releases the handle with the item.
func create(call func(uint32), construct func(handle C.uintptr_t) C.int) (*callback, error) {
	kept := &callback{call: call}
	handle := cgo.NewHandle(kept)
	err := check(construct(C.uintptr_t(handle)))
	if err != nil {
		handle.Delete()
	}
	return kept, err
}

// TimerOptions are all that a timer can have beside its first instant.
type TimerOptions struct {
	Interval  time.Duration // 0: it fires once, and is invalid then
	Tolerance time.Duration // how much later it may fire to share a wake-up
	Order     int32         // among timers that are due at the same instant
}

// A Timer calls a function at its time.
type Timer struct {
	c    *C.runloop_timer
	kept *callback
}

// NewTimer makes a timer that fires first after the given time, in no loop yet.
func NewTimer(after time.Duration, options TimerOptions, call func()) (*Timer, error) {
	timer := &Timer{}
	var err error
	timer.kept, err = create(func(uint32) { call() }, func(handle C.uintptr_t) C.int {
		return C.bridge_timer_create(handle, C.int64_t(after), C.int64_t(options.Interval), C.int64_t(options.Tolerance),
			C.int32_t(options.Order), &timer.c)
	})
	if err != nil {
		return nil, err
	}
	runtime.SetFinalizer(timer, func(timer *Timer) { C.runloop_timer_release(timer.c) })
	return timer, nil
}

// Invalidate ends the timer.
func (timer *Timer) Invalidate() {
	defer runtime.KeepAlive(timer)
	C.runloop_timer_invalidate(timer.c)
	timer.kept.clear()
}

// IsValid is false for a timer that has fired for the last time or was invalidated.
func (timer *Timer) IsValid() bool {
	defer runtime.KeepAlive(timer)
	return bool(C.runloop_timer_is_valid(timer.c))
}

// Remaining is the time until it fires next; Forever if it is invalid.
func (timer *Timer) Remaining() time.Duration {
	defer runtime.KeepAlive(timer)
	return time.Duration(C.bridge_timer_get_remaining(timer.c))
}

// FireAfter moves it, and its schedule. syscall.EINVAL if it is invalid.
func (timer *Timer) FireAfter(after time.Duration) error {
	defer runtime.KeepAlive(timer)
	return check(C.bridge_timer_set_fire_after(timer.c, C.int64_t(after)))
}

// Missed is, in its callback, how many instants of its schedule passed without a call, and were not reported before.
func (timer *Timer) Missed() uint64 {
	defer runtime.KeepAlive(timer)
	return uint64(C.runloop_timer_get_missed(timer.c))
}

func (timer *Timer) add(loop *C.runloop, mode *C.char) C.int {
	return C.runloop_add_timer(loop, timer.c, mode)
}
func (timer *Timer) remove(loop *C.runloop, mode *C.char) C.int {
	return C.runloop_remove_timer(loop, timer.c, mode)
}
func (timer *Timer) isIn(loop *C.runloop, mode *C.char) C.bool {
	return C.runloop_contains_timer(loop, timer.c, mode)
}

// anySource is what both kinds of sources have in common.
type anySource struct {
	c    *C.runloop_source
	kept *callback
}

// Invalidate ends the source.
func (source *anySource) Invalidate() {
	defer runtime.KeepAlive(source)
	C.runloop_source_invalidate(source.c)
	source.kept.clear()
}

// IsValid is false once the source was invalidated.
func (source *anySource) IsValid() bool {
	defer runtime.KeepAlive(source)
	return bool(C.runloop_source_is_valid(source.c))
}

func (source *anySource) add(loop *C.runloop, mode *C.char) C.int {
	return C.runloop_add_source(loop, source.c, mode)
}
func (source *anySource) remove(loop *C.runloop, mode *C.char) C.int {
	return C.runloop_remove_source(loop, source.c, mode)
}
func (source *anySource) isIn(loop *C.runloop, mode *C.char) C.bool {
	return C.runloop_contains_source(loop, source.c, mode)
}

// A Source calls a function once after it was signalled, however often that was.
type Source struct{ *anySource }

// NewSource makes a source, in no loop yet. Lower orders come first.
func NewSource(order int32, call func()) (Source, error) {
	source := &anySource{}
	var err error
	source.kept, err = create(func(uint32) { call() }, func(handle C.uintptr_t) C.int {
		return C.bridge_source_create(handle, C.int32_t(order), &source.c)
	})
	return Source{source}, source.owned(err)
}

// Signal marks the source. It does not wake a loop: Loop.WakeUp does.
func (source Source) Signal() {
	C.runloop_source_signal(source.c)
	runtime.KeepAlive(source.anySource)
}

func (source *anySource) owned(err error) error {
	if err == nil {
		runtime.SetFinalizer(source, func(source *anySource) { C.runloop_source_release(source.c) })
	}
	return err
}

// Readiness is a set of conditions of a descriptor.
type Readiness uint32

// The conditions. A source that asks for none is paused.
const (
	Readable Readiness = C.RUNLOOP_READABLE
	Priority Readiness = C.RUNLOOP_PRIORITY
	Writable Readiness = C.RUNLOOP_WRITABLE
	Error    Readiness = C.RUNLOOP_ERROR
	HangUp   Readiness = C.RUNLOOP_HANG_UP
)

// A DescriptorSource calls a function as long as a descriptor is in one of the conditions.
type DescriptorSource struct{ *anySource }

// NewDescriptorSource makes a source, in no loop yet. The descriptor remains the caller's, who invalidates the source before
// closing it.
func NewDescriptorSource(descriptor int, events Readiness, call func(Readiness)) (DescriptorSource, error) {
	source := &anySource{}
	var err error
	source.kept, err = create(func(now uint32) { call(Readiness(now)) }, func(handle C.uintptr_t) C.int {
		return C.bridge_descriptor_source_create(handle, C.int(descriptor), C.runloop_readiness(events), 0, &source.c)
	})
	return DescriptorSource{source}, source.owned(err)
}

// SetEvents changes what the source asks for, from the next wait on.
func (source DescriptorSource) SetEvents(events Readiness) error {
	defer runtime.KeepAlive(source.anySource)
	return check(C.runloop_source_set_events(source.c, C.runloop_readiness(events)))
}

// Activity is a set of activities of a loop.
type Activity uint32

// The activities.
const (
	Entry         Activity = C.RUNLOOP_ACTIVITY_ENTRY
	BeforeTimers  Activity = C.RUNLOOP_ACTIVITY_BEFORE_TIMERS
	BeforeSources Activity = C.RUNLOOP_ACTIVITY_BEFORE_SOURCES
	BeforeWaiting Activity = C.RUNLOOP_ACTIVITY_BEFORE_WAITING
	AfterWaiting  Activity = C.RUNLOOP_ACTIVITY_AFTER_WAITING
	Exit          Activity = C.RUNLOOP_ACTIVITY_EXIT
	AllActivities Activity = C.RUNLOOP_ACTIVITY_ALL
)

// An Observer calls a function when its loop does one of some activities. It keeps no mode from being empty.
type Observer struct {
	c    *C.runloop_observer
	kept *callback
}

// NewObserver makes an observer, in no loop yet. Lower orders come first.
func NewObserver(activities Activity, order int32, call func(Activity)) (*Observer, error) {
	observer := &Observer{}
	var err error
	observer.kept, err = create(func(now uint32) { call(Activity(now)) }, func(handle C.uintptr_t) C.int {
		return C.bridge_observer_create(handle, C.runloop_activity(activities), true, C.int32_t(order), &observer.c)
	})
	if err != nil {
		return nil, err
	}
	runtime.SetFinalizer(observer, func(observer *Observer) { C.runloop_observer_release(observer.c) })
	return observer, nil
}

// Invalidate ends the observer.
func (observer *Observer) Invalidate() {
	defer runtime.KeepAlive(observer)
	C.runloop_observer_invalidate(observer.c)
	observer.kept.clear()
}

// IsValid is false once the observer was invalidated.
func (observer *Observer) IsValid() bool {
	defer runtime.KeepAlive(observer)
	return bool(C.runloop_observer_is_valid(observer.c))
}

func (observer *Observer) add(loop *C.runloop, mode *C.char) C.int {
	return C.runloop_add_observer(loop, observer.c, mode)
}
func (observer *Observer) remove(loop *C.runloop, mode *C.char) C.int {
	return C.runloop_remove_observer(loop, observer.c, mode)
}
func (observer *Observer) isIn(loop *C.runloop, mode *C.char) C.bool {
	return C.runloop_contains_observer(loop, observer.c, mode)
}
