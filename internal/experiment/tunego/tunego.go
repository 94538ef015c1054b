package tunego

import (
	"context"
	"errors"
	"fmt"
	"go/version"
	"os/exec"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/experiment"
	"github.com/hone-go/hone/internal/session"
)

// Schema is the version of Result's JSON form.
const Schema = "hone/tunego/v1"

// Spec says what to try.
type Spec struct {
	Options  capture.Options // of one run
	Versions []string        // as go1.25.3 or 1.25.3; none: see Candidates
	Runs     int             // of each; 0: 6
	Seed     uint64
	Progress func(capture.Event)
}

// Result is the measurement of each toolchain.
type Result struct {
	Schema  string             `json:"schema"`
	Current string             `json:"current"`        // the target's current toolchain
	Best    string             `json:"best,omitempty"` // the one that saves most; "" when none saves anything without a loss
	Trial   *experiment.Result `json:"trial,omitempty"`
	Why     string             `json:"why,omitempty"` // why nothing was tried
}

// Run finds the toolchains and measures them.
func Run(ctx context.Context, cfg session.Config, s Spec) (*Result, error) {
	if s.Options.URL != "" {
		return nil, errors.New("tune go: a running service cannot be built with another toolchain: name its package")
	}
	current, err := goOutput(ctx, s.Options.Dir, "env", "GOVERSION")
	if err != nil {
		return nil, err
	}
	current, _, _ = strings.Cut(current, " ") // the rest names experiments
	r := &Result{Schema: Schema, Current: current}
	names := s.Versions
	if len(names) == 0 {
		list, err := goOutput(ctx, s.Options.Dir, "list", "-m", "-versions", "go")
		if err != nil {
			return nil, fmt.Errorf("tune go: the list of releases is not available; name releases with -go: %w", err)
		}
		names = Candidates(strings.Fields(list), current)
	}
	var variants []experiment.Variant
	for _, name := range names {
		if !strings.HasPrefix(name, "go") {
			name = "go" + name
		}
		if !version.IsValid(name) {
			return nil, fmt.Errorf("tune go: %s is not a version of Go; want one like go1.25.3", name)
		}
		if name != current {
			variants = append(variants, experiment.Variant{Name: name, Toolchain: name})
		}
	}
	if len(variants) == 0 {
		r.Why = "there is no newer release than " + current
		return r, nil
	}
	r.Trial, err = experiment.Run(ctx, cfg, experiment.Spec{Options: s.Options, Variants: variants, Runs: s.Runs, Seed: s.Seed, Progress: s.Progress})
	if err != nil {
		return nil, err
	}
	r.Best = best(r.Trial.Outcomes)
	return r, nil
}

// mostMinors is the number of newer minor versions that are tried by default.
const mostMinors = 2

// Candidates returns the releases to try by default, out of all releases: the newest patch release
// of the current minor version if it is newer than the current one, and those of the minor versions
// after it, without release candidates.
func Candidates(all []string, current string) []string {
	newest := map[string]string{} // by language version
	for _, v := range all {
		v = "go" + strings.TrimPrefix(v, "go")
		if !version.IsValid(v) || strings.ContainsAny(v, "rb") || version.Compare(v, current) <= 0 { // 1.27rc1, 1.27beta1
			continue
		}
		if lang := version.Lang(v); version.Compare(v, newest[lang]) > 0 {
			newest[lang] = v
		}
	}
	var list []string
	for _, v := range newest {
		list = append(list, v)
	}
	slices.SortFunc(list, version.Compare)
	own := len(list) > 0 && version.Lang(list[0]) == version.Lang(current)
	if n := mostMinors; own {
		return list[:min(len(list), n+1)]
	}
	return list[:min(len(list), mostMinors)]
}

// best returns the toolchain with the least CPU (or time, if CPU is not compared) of those that
// save something and lose nothing.
func best(outcomes []experiment.Outcome) string {
	name, least := "", 1.0
	for _, o := range outcomes {
		if o.Comparison == nil || o.Differs != "" {
			continue
		}
		ratio, worse := 1.0, false
		for _, row := range o.Comparison.Rows {
			worse = worse || row.Loss()
			if row.Verdict == compare.Better && row.Ratio != nil && (row.Metric == "cpu" || row.Metric == "time" || row.Metric == "wall") {
				ratio = min(ratio, *row.Ratio)
			}
		}
		if !worse && ratio < least {
			name, least = o.Name, ratio
		}
	}
	return name
}

func goOutput(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			err = errors.New(strings.TrimSpace(string(exit.Stderr)))
		}
		return "", fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}
