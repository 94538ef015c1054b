package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/compare"
)

// Gate is the configuration of a repository's gate: the object "gate" of its hone.json. The zero
// value fails on every regression.
type Gate struct {
	Bench  string   // measure only the benchmarks that match this regular expression; "": all
	Budget Duration // per benchmark; 0: DefaultBudget
	Strict bool     // an unknown verdict fails, too
	Units  []string // metrics that can fail; nil: all
	Allow  []Allow
}

// Duration is a time.Duration that is written as "30s".
type Duration time.Duration

// UnmarshalJSON parses a string such as "30s".
func (d *Duration) UnmarshalJSON(text []byte) error {
	var word string
	if err := json.Unmarshal(text, &word); err != nil {
		return fmt.Errorf(`%s is not a duration; write "30s"`, text)
	}
	v, err := time.ParseDuration(word)
	if err != nil || v <= 0 {
		return fmt.Errorf(`%q is not a duration; write "30s"`, word)
	}
	*d = Duration(v)
	return nil
}

// Allow lets some regressions pass.
type Allow struct {
	Package   string  // pattern of import paths, as for path.Match; "": all
	Benchmark string  // pattern of names without Benchmark and -procs; "": all
	Unit      string  // "": all
	Percent   float64 // largest regression that passes; 0: any
	Reason    string
}

// ParseGate parses the object "gate" of a hone.json. Empty text gives the zero value.
func ParseGate(text []byte) (g Gate, err error) {
	if len(text) == 0 {
		return g, nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&g); err != nil {
		return g, fmt.Errorf("gate: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return g, errors.New("gate: unexpected text after the object")
	}
	for i, a := range g.Allow {
		if strings.TrimSpace(a.Reason) == "" {
			return g, fmt.Errorf("gate: allow[%d]: want a reason", i)
		}
		if a.Percent < 0 || math.IsNaN(a.Percent) {
			return g, fmt.Errorf("gate: allow[%d]: percent is %g; want a positive number, or none for any amount", i, a.Percent)
		}
		for _, pattern := range []string{a.Package, a.Benchmark} {
			if _, err := path.Match(pattern, ""); err != nil {
				return g, fmt.Errorf("gate: allow[%d]: %q: %w", i, pattern, err)
			}
		}
	}
	return g, nil
}

// Apply marks the regressed rows that are allowed, and lists those that fail and those that are
// unknown. Unknown wall times are not listed, because other programs on the machine affect them.
func (g Gate) Apply(r *Result) (worse, unknown []string) {
	for i := range r.Benchmarks {
		b := &r.Benchmarks[i]
		for j := range b.Rows {
			row := &b.Rows[j]
			if row.Old == nil {
				continue
			}
			name := fmt.Sprintf("%s %s (%s)", b.Package, b.Name, row.Unit)
			switch {
			case row.Verdict == compare.Worse:
				if row.Allowed = g.allowed(b, row); row.Allowed == "" {
					worse = append(worse, name)
				}
			case row.Verdict == compare.Unknown && row.Unit != "ns/op" && g.fails(row.Unit):
				unknown = append(unknown, name)
			}
		}
	}
	return worse, unknown
}

func (g Gate) fails(unit string) bool { return len(g.Units) == 0 || slices.Contains(g.Units, unit) }

// allowed returns why a regressed row passes, or "" if it fails.
func (g Gate) allowed(b *Benchmark, row *Row) string {
	if !g.fails(row.Unit) {
		return row.Unit + " is not among the gate's units"
	}
	like := func(pattern, name string) bool {
		ok, _ := path.Match(pattern, name)
		return pattern == "" || pattern == name || ok
	}
	for _, a := range g.Allow {
		if !like(a.Package, b.Package) || !like(a.Benchmark, bareName(b.Name)) || a.Unit != "" && a.Unit != row.Unit {
			continue
		}
		if a.Percent == 0 || row.Ratio != nil && *row.Ratio > 0 && 100*math.Max(*row.Ratio-1, 1 / *row.Ratio - 1) <= a.Percent {
			return a.Reason
		}
	}
	return ""
}
