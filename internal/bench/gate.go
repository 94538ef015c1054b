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

// Gate is what a repository decides about its gate: the object "gate" of its hone.json. The zero value fails on everything
// that is worse.
type Gate struct {
	Bench  string   // measure the benchmarks that this regular expression matches; "": all
	Budget Duration // of one benchmark; 0: DefaultBudget
	Strict bool     // unknown fails, too
	Units  []string // metrics that may fail; nil: all
	Allow  []Allow
}

// Duration is a length of time, written "30s".
type Duration time.Duration

// UnmarshalJSON reads "30s".
func (d *Duration) UnmarshalJSON(text []byte) error {
	var word string
	if err := json.Unmarshal(text, &word); err != nil {
		return fmt.Errorf(`%s is no length of time; write "30s"`, text)
	}
	v, err := time.ParseDuration(word)
	if err != nil || v <= 0 {
		return fmt.Errorf(`%q is no length of time; write "30s"`, word)
	}
	*d = Duration(v)
	return nil
}

// Allow lets some changes for the worse pass.
type Allow struct {
	Package   string  // import path, a pattern of package path; "": all
	Benchmark string  // name without Benchmark and -procs, a pattern; "": all
	Unit      string  // "": all
	Percent   float64 // by which it may be worse; 0: by any amount
	Reason    string
}

// ParseGate reads the object "gate" of a hone.json; without text it is the zero value.
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
		return g, errors.New("gate: more after the object")
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

// Apply marks the rows of a comparison that are worse and let pass, and lists those that fail and those that are unknown. Wall time
// that is unknown is not listed: neighbours on the machine blur it.
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

// allowed says why a row that is worse passes; "" when it does not.
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
