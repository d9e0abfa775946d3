// Ticks three times, while another goroutine posts.
package main

import (
	"fmt"
	"runloop"
	"time"
)

func main() {
	err := runloop.On(func(loop *runloop.Loop) {
		ticks, tick := 0, time.Millisecond
		timer, _ := runloop.NewTimer(tick, runloop.TimerOptions{Interval: tick}, func() {
			if ticks++; ticks == 3 {
				loop.Stop()
			}
			fmt.Println("tick", ticks)
		})
		loop.Add(timer, runloop.DefaultMode)
		go loop.Post(runloop.CommonModes, func() { fmt.Println("posted") })
		fmt.Println(runloop.Run())
	})
	fmt.Println(err)
}
