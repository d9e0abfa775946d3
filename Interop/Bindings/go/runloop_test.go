package runloop

import (
	"errors"
	"math/rand"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

const ownMode Mode = "own"

// on runs a test on a thread with a loop. The test must not use t.Fatal.
func on(t *testing.T, work func(loop *Loop)) {
	t.Helper()
	if err := On(work); err != nil {
		t.Error(err)
	}
}

func expect(t *testing.T, condition bool, what ...interface{}) {
	t.Helper()
	if !condition {
		t.Error(append([]interface{}{"not as expected:"}, what...)...)
	}
}

func succeed(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func expectRun(t *testing.T, expected Result, mode Mode, limit time.Duration) {
	t.Helper()
	result, err := RunInMode(mode, limit, false)
	expect(t, result == expected && err == nil, result, err)
}

func keep(t *testing.T, loop *Loop, modes ...Mode) {
	source, err := NewSource(0, func() {})
	succeed(t, err)
	for _, mode := range modes {
		succeed(t, loop.Add(source, mode))
	}
}

// collected waits until the garbage collector has found what `freed` counts.
func collected(freed *int32, expected int32) bool {
	for deadline := time.Now().Add(time.Minute); atomic.LoadInt32(freed) < expected && time.Now().Before(deadline); {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	return atomic.LoadInt32(freed) == expected
}

// counted is an object that counts its end; callbacks refer to it.
func counted(freed *int32) *[64]int {
	object := new([64]int)
	runtime.SetFinalizer(object, func(*[64]int) { atomic.AddInt32(freed, 1) })
	return object
}

func TestTimerFiresOnceNotBeforeItsTime(t *testing.T) {
	on(t, func(loop *Loop) {
		start, fired := time.Now(), 0
		timer, err := NewTimer(20*time.Millisecond, TimerOptions{}, func() { fired++ })
		succeed(t, err)
		succeed(t, loop.Add(timer, DefaultMode))
		expect(t, loop.Contains(timer, DefaultMode) && timer.IsValid() && timer.Remaining() <= 20*time.Millisecond)
		expectRun(t, Finished, DefaultMode, Forever)
		expect(t, fired == 1 && time.Since(start) >= 20*time.Millisecond, fired)
		expect(t, !timer.IsValid() && timer.Remaining() == Forever)
		expect(t, errors.Is(timer.FireAfter(0), syscall.EINVAL))
	})
}

func TestTimerRepeatsMovesAndEndsInItsOwnCallback(t *testing.T) {
	on(t, func(loop *Loop) {
		fired := 0
		var timer *Timer
		timer, err := NewTimer(Forever, TimerOptions{Interval: time.Millisecond, Tolerance: time.Millisecond / 4}, func() {
			if fired++; fired == 3 {
				timer.Invalidate()
			}
		})
		succeed(t, err)
		expect(t, timer.Remaining() == Forever)
		succeed(t, loop.Add(timer, DefaultMode))
		succeed(t, timer.FireAfter(0))
		expectRun(t, Finished, DefaultMode, Forever)
		expect(t, fired == 3, fired)
	})
}

func TestSignalledSourcePerformsOnce(t *testing.T) {
	on(t, func(loop *Loop) {
		performed := 0
		source, err := NewSource(0, func() { performed++ })
		succeed(t, err)
		succeed(t, loop.Add(source, DefaultMode))
		source.Signal()
		source.Signal()
		result, err := RunInMode(DefaultMode, Forever, true)
		expect(t, result == HandledSource && err == nil, result, err)
		expectRun(t, TimedOut, DefaultMode, 0)
		expect(t, performed == 1, performed)
	})
}

func TestDescriptorIsReadyPausedAndGoesOn(t *testing.T) {
	on(t, func(loop *Loop) {
		var pipe [2]int
		succeed(t, syscall.Pipe2(pipe[:], syscall.O_CLOEXEC|syscall.O_NONBLOCK))
		taken := ""
		source, err := NewDescriptorSource(pipe[0], Readable, func(now Readiness) {
			var bytes [1]byte
			_, err := syscall.Read(pipe[0], bytes[:])
			expect(t, err == nil && now == Readable, err, now)
			taken += string(bytes[:])
		})
		succeed(t, err)
		succeed(t, loop.Add(source, DefaultMode))
		step := func(expected Result, limit time.Duration) {
			result, err := RunInMode(DefaultMode, limit, true)
			expect(t, result == expected && err == nil, result, err)
		}
		syscall.Write(pipe[1], []byte("a"))
		step(HandledSource, Forever)
		succeed(t, source.SetEvents(0))
		syscall.Write(pipe[1], []byte("b"))
		step(TimedOut, 0)
		succeed(t, source.SetEvents(Readable|HangUp))
		step(HandledSource, Forever)
		expect(t, taken == "ab", taken)
		source.Invalidate()
		syscall.Close(pipe[0])
		syscall.Close(pipe[1])
	})
}

func TestPostsOfAnotherGoroutineWakeTheLoopInOrder(t *testing.T) {
	on(t, func(loop *Loop) {
		keep(t, loop, DefaultMode)
		order := ""
		go func() {
			for !loop.IsWaiting() {
				runtime.Gosched()
			}
			succeed(t, loop.Post(CommonModes, func() { order += "1" }))
			succeed(t, loop.Perform(DefaultMode, func() { order += "2" }))
			succeed(t, loop.Post(DefaultMode, loop.Stop))
		}()
		expectRun(t, Stopped, DefaultMode, Forever)
		expect(t, order == "12", order)
	})
}

func TestObserverSeesARunFromEntryToExit(t *testing.T) {
	on(t, func(loop *Loop) {
		keep(t, loop, ownMode)
		var seen []Activity
		observer, err := NewObserver(AllActivities, 0, func(now Activity) { seen = append(seen, now) })
		succeed(t, err)
		succeed(t, loop.Add(observer, ownMode))
		expectRun(t, TimedOut, ownMode, 0)
		observer.Invalidate()
		expectRun(t, TimedOut, ownMode, 0)
		expect(t, reflect.DeepEqual(seen, []Activity{Entry, BeforeTimers, BeforeSources, Exit}), seen)
	})
}

func TestNestedRunAndItsStop(t *testing.T) {
	on(t, func(loop *Loop) {
		keep(t, loop, DefaultMode, ownMode)
		order := ""
		timer, err := NewTimer(0, TimerOptions{}, func() {
			succeed(t, loop.Post(ownMode, func() { order += "inner "; loop.Stop() }))
			expectRun(t, Stopped, ownMode, Forever)
			order += "outer"
			loop.Stop()
		})
		succeed(t, err)
		succeed(t, loop.Add(timer, DefaultMode))
		expectRun(t, Stopped, DefaultMode, Forever)
		expect(t, order == "inner outer", order)
	})
}

func TestStopsThatAreRemembered(t *testing.T) {
	on(t, func(loop *Loop) {
		keep(t, loop, ownMode)
		loop.Stop()
		expectRun(t, TimedOut, ownMode, 0)
		loop.StopLatched()
		expectRun(t, Stopped, ownMode, Forever)
		succeed(t, loop.StopMode(ownMode))
		expectRun(t, Stopped, ownMode, Forever)
	})
}

func TestErrors(t *testing.T) {
	on(t, func(loop *Loop) {
		_, err := NewDescriptorSource(0, 0, func(Readiness) {})
		expect(t, errors.Is(err, syscall.EINVAL), err)
		file, err := os.Open("/proc/self/exe")
		succeed(t, err)
		source, err := NewDescriptorSource(int(file.Fd()), Readable, func(Readiness) {})
		succeed(t, err)
		expect(t, errors.Is(loop.Add(source, DefaultMode), syscall.EPERM))
		file.Close()
		expect(t, errors.Is(loop.Post("nul\x00", func() {}), syscall.EINVAL))
		expect(t, errors.Is(EndCurrent(), nil))
	})
}

func TestWhatIsInvalidIsCollectedThoughItRefersToItself(t *testing.T) {
	var freed int32
	on(t, func(loop *Loop) {
		for i := 0; i < 4; i++ {
			object := counted(&freed)
			var item Item
			switch i {
			case 0:
				item, _ = NewTimer(time.Hour, TimerOptions{}, func() { _, _ = item, object })
			case 1:
				item, _ = NewSource(0, func() { _, _ = item, object })
			case 2:
				item, _ = NewObserver(AllActivities, 0, func(Activity) { _, _ = item, object })
			case 3:
				item, _ = NewTimer(0, TimerOptions{}, func() { _, _ = item, object })
			}
			succeed(t, loop.Add(item, DefaultMode))
			if i < 3 {
				item.Invalidate()
			}
		}
		expectRun(t, Finished, DefaultMode, time.Minute) // The last one fires once.
		expect(t, collected(&freed, 4), atomic.LoadInt32(&freed))
	})
}

func TestEndOfThreadReleasesWhatTheLoopHad(t *testing.T) {
	var freed int32
	var ended *Loop
	on(t, func(loop *Loop) {
		ended = loop
		posted, kept := counted(&freed), counted(&freed)
		succeed(t, loop.Post(ownMode, func() { t.Error("called", posted) }))
		source, err := NewSource(0, func() { t.Error("called", kept) })
		succeed(t, err)
		succeed(t, loop.Add(source, DefaultMode))
	})
	expect(t, collected(&freed, 2), atomic.LoadInt32(&freed))
	expect(t, errors.Is(ended.Post(DefaultMode, func() {}), syscall.ESHUTDOWN))
}

func TestAPanicComesOutOfTheInnermostRun(t *testing.T) {
	on(t, func(loop *Loop) {
		keep(t, loop, DefaultMode, ownMode)
		var inner interface{}
		succeed(t, loop.Post(DefaultMode, func() {
			succeed(t, loop.Post(ownMode, func() { panic("deliberate") }))
			func() {
				defer func() { inner = recover() }()
				RunInMode(ownMode, Forever, false)
			}()
			loop.Stop()
		}))
		expectRun(t, Stopped, DefaultMode, Forever)
		p, is := inner.(*CallbackPanic)
		expect(t, is && p.Value == "deliberate" && strings.Contains(p.Error(), "TestAPanicComesOut"), inner)
		expectRun(t, TimedOut, ownMode, 0) // The loop is as it was.
	})
	defer func() { expect(t, recover() == "of the work") }()
	On(func(*Loop) { panic("of the work") })
}

func TestGoexitInACallbackEndsTheProgramWithASentence(t *testing.T) {
	if os.Getenv("RUNLOOP_TEST_GOEXIT") != "" {
		On(func(loop *Loop) {
			keep(t, loop, DefaultMode)
			loop.Post(DefaultMode, runtime.Goexit)
			Run()
		})
		return
	}
	child := exec.Command(os.Args[0], "-test.run=TestGoexit")
	child.Env = append(os.Environ(), "RUNLOOP_TEST_GOEXIT=1")
	output, err := child.CombinedOutput()
	var exit *exec.ExitError
	expect(t, errors.As(err, &exit) && exit.ExitCode() == 2 && strings.Contains(string(output), "runtime.Goexit"), err, string(output))
}

// live has one of everything in a loop, runs it for a moment, nested for a part of it, and ends its thread.
func live(t *testing.T, publish func(*Loop)) {
	on(t, func(loop *Loop) {
		expect(t, syscall.Gettid() != os.Getpid(), "on the initial thread, whose loop never ends")
		var pipe [2]int
		succeed(t, syscall.Pipe2(pipe[:], syscall.O_CLOEXEC|syscall.O_NONBLOCK))
		var reader DescriptorSource
		reader, _ = NewDescriptorSource(pipe[0], Readable, func(Readiness) {
			var bytes [64]byte
			syscall.Read(pipe[0], bytes[:])
			succeed(t, reader.SetEvents(0))
		})
		marked, _ := NewSource(0, func() { succeed(t, reader.SetEvents(Readable)) })
		writer, _ := NewTimer(0, TimerOptions{Interval: 200 * time.Microsecond}, func() {
			syscall.Write(pipe[1], []byte("x"))
			marked.Signal()
		})
		nest, _ := NewTimer(0, TimerOptions{Interval: time.Millisecond}, func() {
			RunInMode(ownMode, 300*time.Microsecond, false)
		})
		watch, _ := NewObserver(AllActivities, 0, func(Activity) {})
		for _, item := range []Item{reader, marked, writer, watch} {
			succeed(t, loop.Add(item, DefaultMode))
			succeed(t, loop.Add(item, ownMode))
		}
		succeed(t, loop.Add(nest, DefaultMode))
		publish(loop)
		RunInMode(DefaultMode, time.Duration(rand.Intn(10))*time.Millisecond, false)
		reader.Invalidate()
		marked.Invalidate()
		syscall.Close(pipe[0])
		syscall.Close(pipe[1])
	})
}

// TestStress has threads with loops that come and go, and others that post to them and move their timers, for RUNLOOP_STRESS
// seconds.
func TestStress(t *testing.T) {
	seconds, _ := strconv.ParseFloat(os.Getenv("RUNLOOP_STRESS"), 64)
	end := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	var lock sync.Mutex
	var loops []*Loop
	publish := func(loop *Loop) {
		lock.Lock()
		defer lock.Unlock()
		if loops = append(loops, loop); len(loops) > 4 {
			loops = loops[1:]
		}
	}
	any := func() *Loop {
		lock.Lock()
		defer lock.Unlock()
		return loops[rand.Intn(len(loops))]
	}
	var made, freed, called, generations int32
	live(t, publish)
	var done sync.WaitGroup
	for i := 0; i < 2; i++ {
		done.Add(2)
		go func() {
			defer done.Done()
			for once := true; once || time.Now().Before(end); once = false {
				live(t, publish)
				atomic.AddInt32(&generations, 1)
			}
		}()
		go func() {
			defer done.Done()
			for once := true; once || time.Now().Before(end); once = false {
				loop, object := any(), counted(&freed)
				atomic.AddInt32(&made, 1)
				mode := []Mode{DefaultMode, ownMode}[rand.Intn(2)]
				err := loop.Post(mode, func() { object[0]++; atomic.AddInt32(&called, 1) })
				expect(t, err == nil || errors.Is(err, syscall.ESHUTDOWN), err)
				timer, _ := NewTimer(time.Hour, TimerOptions{}, func() { object[1]++ })
				loop.Add(timer, mode)
				timer.FireAfter(50 * time.Microsecond)
				if rand.Intn(32) == 0 {
					loop.Stop()
				}
				if rand.Intn(2) == 0 {
					timer.Invalidate()
				}
			}
		}()
	}
	done.Wait()
	loops = nil
	expect(t, collected(&freed, made), "made", made, "freed", freed)
	t.Log(generations, "generations,", made, "posts,", called, "called")
}
