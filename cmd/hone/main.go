// Command hone finds where a Go program spends CPU, memory and time, explains each costly line, and
// measures the fix. Run it without arguments to see how to start.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/hone-go/hone/internal/cli"
)

func main() {
	var ballast []byte
	if os.Getenv("GOGC") == "" {
		percent, floor := collection(os.Args[1:])
		debug.SetGCPercent(percent)
		ballast = make([]byte, floor)
	}
	// The first signal lets hone finish its recording and stop the target. NotifyContext then
	// restores the default, so that a second signal kills hone.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop)
	ctx, stopReading := context.WithCancel(ctx)
	endWithReader(stopReading)
	code := cli.Main(ctx, os.Args[1:], cli.System())
	runtime.KeepAlive(ballast)
	os.Exit(code)
}

// endWithReader cancels the work when the reader of hone's output has exited (`hone run … | head`).
// The signal's default is not restored: every further write raises it again, and it would kill hone
// while it cleans up. A process that asks for SIGPIPE also gets it for writes to sockets (package
// os/signal, "SIGPIPE"), such as the probe of a target that just exited, or a service that closed
// its connection. So endWithReader checks whether the output itself is closed.
func endWithReader(cancel context.CancelFunc) {
	gone := make(chan os.Signal, 1)
	signal.Notify(gone, syscall.SIGPIPE)
	go func() {
		for range gone {
			if closed(1, 2) {
				cancel()
				return
			}
		}
	}()
}

// collection returns the GOGC for a command, and a floor of the heap in bytes. Most commands finish
// in seconds, and most of what they allocate stays in use: fewer collections cost few megabytes and
// save a twentieth of the time. A trace is read as a stream that leaves hardly any garbage: more
// collections cost nothing once its buffers have grown, and its memory does not grow with its
// length. While the buffers grow, each step would cause a collection, a tenth of the time of a
// small trace. The floor counts as heap, so the buffers grow without collections; it is never
// written to, so it takes no memory. What proto merges becomes garbage as soon as it is merged.
func collection(args []string) (percent, floor int) {
	if len(args) > 0 {
		switch args[0] {
		case "trace":
			return 40, 32 << 20
		case "proto":
			return 110, 0
		}
	}
	return 180, 0
}
