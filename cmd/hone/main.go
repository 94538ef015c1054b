// Command hone finds what a Go program spends, says why down to the source
// line, and proves the fix. Run it without arguments for a first lesson.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/hone-go/hone/internal/cli"
)

func main() {
	// A command is over in seconds and most of what it allocates lives to its end: to collect
	// less often costs few megabytes and saves a twentieth of the time.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(180)
	}
	// The first signal lets hone finish its recording and stop the target;
	// NotifyContext gives the signal back afterwards, so that a second one kills.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(cli.Main(ctx, os.Args[1:], cli.System()))
}
