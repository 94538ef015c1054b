package cli

import (
	"context"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/render"
	"github.com/hone-go/hone/load"
)

func loadCommand() command {
	return command{
		name: "load", args: "URL|FILE [flags]", group: "benchmarks, load, comparison",
		short: "the load generator alone",
		long: `Sends HTTP/1.1 requests over persistent connections and reports throughput, latency and errors.

Without -rate the load is a closed loop: each connection sends its next request when
the response to the last one has arrived. That measures the maximum throughput, but its
latencies do not include the requests that a stalled service prevented (coordinated
omission), so they are called service time. With -rate N, requests have a schedule; latency counts from the
scheduled time, and the report says how late the generator itself was (lag).

` + targetsHelp,
		examples: []string{
			"hone load http://127.0.0.1:8080/path",
			"hone load http://127.0.0.1:8080/v1/x -method POST -body '{\"id\": 1}' -rate 1000 -duration 60s",
			"hone load http://127.0.0.1:8080/nowhere -expect 404",
			"hone load targets.txt -rate 500 -json",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			var lf loadFlags
			var out outputFlags
			var duration, timeout time.Duration
			var count int64
			lf.declare(fs, false)
			out.declare(fs, "")
			fs.DurationVar(&duration, "duration", 10*time.Second, "how long to send, `D`")
			fs.Int64Var(&count, "count", 0, "stop after `N` requests (0: only after -duration)")
			fs.DurationVar(&timeout, "timeout", 30*time.Second, "wait at most `D` for a response")
			return func(ctx context.Context, env Env, args, _ []string) error {
				if len(args) != 1 {
					return usagef("load: give one URL or targets file")
				}
				if duration <= 0 {
					return usagef("load: -duration %s: the duration must be above zero", duration)
				}
				o, err := lf.options(args[0])
				if err != nil {
					return err
				}
				o.Timeout, o.MaxDuration, o.MaxRequests = timeout, duration, count
				result, err := sendLoad(ctx, env, *o, out.quiet)
				if err != nil {
					return err
				}
				if out.json {
					return render.JSON(env.Stdout, result.Report())
				}
				err = buffered(env.Stdout, func(w io.Writer) error {
					render.Load(w, result, out.style(env))
					return nil
				})
				if err == nil && result.Requests > 0 && result.Failed() >= result.Requests {
					return fmt.Errorf("every request failed")
				}
				return err
			}
		},
	}
}

// sendLoad tries the targets once, then runs the load and reports progress each second.
func sendLoad(ctx context.Context, env Env, o load.Options, quiet bool) (*load.Result, error) {
	prog := newProgress(env, quiet)
	defer prog.clear()
	if err := capture.TryLoad(ctx, o, prog.event); err != nil {
		return nil, err
	}
	g, err := load.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-g.Done():
			return g.Stop(), nil
		case <-tick.C:
			cut := g.Cut()
			prog.event(capture.Event{
				Phase: "load", At: time.Since(start), Of: o.MaxDuration,
				Text: fmt.Sprintf("%.0f requests/s, %d failed, %d open", cut.Throughput(), cut.Failed(), cut.Waiting),
			})
		}
	}
}
