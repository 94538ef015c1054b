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
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent(os.Args[1:]))
	}
	// The first signal lets hone finish its recording and stop the target;
	// NotifyContext gives the signal back afterwards, so that a second one kills.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(cli.Main(ctx, os.Args[1:], cli.System()))
}

// gcPercent is the GOGC that suits a command. Most are over in seconds, and most of what they allocate
// lives to their end: to collect less often costs few megabytes and saves a twentieth of the time. A trace
// is read in a stream that leaves hardly any garbage: to collect more often costs nothing, and its memory
// does not grow with its length. What proto merges is garbage once it is merged.
func gcPercent(args []string) int {
	if len(args) > 0 {
		switch args[0] {
		case "trace":
			return 40
		case "proto":
			return 110
		}
	}
	return 180
}
