package cli

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/hone-go/hone/internal/bench"
	"github.com/hone-go/hone/internal/render"
)

func noiseCommand() command {
	return command{
		name: "noise", args: "[PACKAGES]", group: "benchmarks, load, comparison",
		short: "which changes this machine can detect: benchmarks compared with themselves",
		long: `Runs benchmarks as hone bench -against self does, with the same program on both sides, so that the machine causes every difference. It reports,
for each metric, how large a change must be to be detected in that budget, how many rows were reported as changes (all of
them are errors), and which other processes kept the machine busy.

Without PACKAGES the benchmarks are hone's own: numbers, a map, a sort, strings, two goroutines. hone stores the result, and hone bench prints it
with its own results.`,
		examples: []string{"hone noise", "hone noise -budget 60s", "hone noise ./codec"},
		setup: func(fs *flag.FlagSet) runFunc {
			var b benchFlags
			b.declareMeasuring(fs)
			return func(ctx context.Context, env Env, args, _ []string) error {
				prog, err := b.prepare(env)
				if err != nil {
					return err
				}
				b.spec.Packages = args
				n, err := bench.MeasureNoise(ctx, b.spec)
				prog.clear()
				if err != nil {
					return err
				}
				if err := keepNoise(env, n); err != nil {
					return err
				}
				if b.out.json {
					return render.JSON(env.Stdout, n)
				}
				return buffered(env.Stdout, func(w io.Writer) error { render.Noise(w, n, b.out.style(env)); return nil })
			}
		},
	}
}

func noiseFile(env Env) string { return filepath.Join(env.CacheDir, "noise.json") }

func keepNoise(env Env, n *bench.Noise) error {
	text, err := json.Marshal(n)
	if err == nil {
		err = os.WriteFile(noiseFile(env), text, 0o644)
	}
	if err != nil {
		return fmt.Errorf("keep the noise of this machine: %w", err)
	}
	return nil
}

// noiseNote returns a note on the machine's noise for a page with verdicts, or "" if it was not
// measured.
func noiseNote(env Env) string {
	text, err := os.ReadFile(noiseFile(env))
	if err != nil {
		return ""
	}
	var n bench.Noise
	if json.Unmarshal(text, &n) != nil || n.Schema != bench.NoiseSchema || len(n.Metrics) == 0 {
		return ""
	}
	note := fmt.Sprintf("hone noise of %s, with %.0f s per benchmark:", n.Made.Format("2006-01-02"), n.Budget)
	for i, m := range n.Metrics {
		if m.Unit != "ns/op" && m.Unit != "cpu-ns/op" {
			continue
		}
		if i > 0 {
			note += ","
		}
		note += fmt.Sprintf(" this machine detects changes of %s above %.1f %%", map[string]string{"ns/op": "time", "cpu-ns/op": "CPU"}[m.Unit], 100*m.Sees)
	}
	return note
}
