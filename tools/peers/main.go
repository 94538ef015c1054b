package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

// area is a comparison with other tools, or a preparation for one.
type area struct {
	name, help string
	run        func(ctx context.Context, args []string, out io.Writer) error
}

func areas() []area {
	return []area{
		{"profile", "top, diff, merge and the flame graph of profiles, against go tool pprof", profileArea},
		{"load", "the load generator's CPU per request, against wrk", loadArea},
		{"trace", "all analyses of execution traces, against go tool trace and x/exp/trace", traceArea},
		{"ui", "hone ui, action by action, against go tool pprof -http and go tool trace", uiArea},
		{"compare", "without another tool: hone compare on runs of the same programs, and on a repair", compareArea},
		{"bench", "false verdicts of hone bench, against go test -count=10 and benchstat, and the changes that it finds", benchArea},
		{"pgo", "without a comparison: record cmd/hone/release.pgo, the profile that hone is built with", pgoArea},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "peers:", err)
		}
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == workerArg {
		return worker(args[1:], os.Stdout)
	}
	for _, a := range areas() {
		if len(args) > 0 && args[0] == a.name {
			return a.run(ctx, args[1:], os.Stdout)
		}
	}
	fmt.Fprintln(os.Stderr, "usage: go run ./tools/peers AREA [flags]")
	for _, a := range areas() {
		fmt.Fprintf(os.Stderr, "  %-10s %s\n", a.name, a.help)
	}
	return fmt.Errorf("no area named %q", args)
}
