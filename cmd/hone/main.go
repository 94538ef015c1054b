// Command hone finds what a Go program spends, says why down to the source
// line, and proves the fix. Run it without arguments for a first lesson.
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
	// The first signal lets hone finish its recording and stop the target;
	// NotifyContext gives the signal back afterwards, so that a second one kills.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop)
	ctx, stopReading := context.WithCancel(ctx)
	endWithReader(stopReading)
	code := cli.Main(ctx, os.Args[1:], cli.System())
	runtime.KeepAlive(ballast)
	os.Exit(code)
}

// endWithReader ends the work when nobody reads hone's output any more (`hone run … | head`). Every further
// write would be a signal again, so that one is not given back: it would kill hone while it cleans up.
// Who asks for the signal also gets it for writes to sockets (package os/signal, "SIGPIPE"): to the probe of a
// target that just ended, to a service that closed its connection. So the output itself is asked.
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

// collection is the GOGC that suits a command, and a floor in bytes. Most are over in seconds, and most of what
// they allocate lives to their end: to collect less often costs few megabytes and saves a twentieth of the time.
// A trace is read in a stream that leaves hardly any garbage: to collect more often costs nothing once its
// buffers have grown, and its memory does not grow with its length. While they grow, each step would be a
// collection, a tenth of the time of a small trace: the floor counts as heap, so that they grow first, but
// nobody writes to it, so that it takes no memory. What proto merges is garbage once it is merged.
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
