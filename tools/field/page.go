package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// row is a case with its verdict.
type row struct {
	c *fieldCase
	verdict
	Fixed    *verdict // of the version that fixed the fault; nil when it was not tried
	Measured *span    // of the CPU, what the fix saved; nil when it was not tried
	err      error
}

// span is from Low to High, as a share.
type span struct{ Low, High float64 }

// table is a page's content.
type table struct {
	Duration time.Duration
	Rows     []row
	fixed    bool           // the versions that fixed the faults
	before   map[string]old // of each case, its first look
}

// old is a line of first.json: how hone did on a case when it first saw it.
type old struct {
	Batch     int      `json:"batch"` // cases of one batch were looked at together
	Rank      int      `json:"rank"`
	Explained int      `json:"explained"`
	Rule      string   `json:"rule"`
	Accused   []string `json:"accused,omitempty"`
}

// first reads the figures of the first look. With keep it adds the cases that have none: they are a batch of their own,
// since hone knows more by then than at the first look at the others.
func (t *table) first(name string, keep bool) error {
	t.before = map[string]old{}
	text, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		if err := json.Unmarshal(text, &t.before); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if !keep {
		return nil
	}
	batch := 1
	for _, o := range t.before {
		batch = max(batch, o.Batch+1)
	}
	for _, r := range t.Rows {
		if _, ok := t.before[r.c.ID]; ok || r.err != nil {
			continue
		}
		o := old{Batch: batch, Rank: r.Rank, Explained: r.Explained, Rule: r.Rule}
		if r.c.Kind == clean {
			o.Accused = r.Accused
		}
		t.before[r.c.ID] = o
	}
	if text, err = json.MarshalIndent(t.before, "", "\t"); err != nil {
		return err
	}
	return os.WriteFile(name, append(text, '\n'), 0o644)
}

// score counts the rows.
type score struct{ bugs, first, near, explained, controls, accused, fixed, alarms, promised, kept int }

func (t *table) score() score {
	var s score
	for _, r := range t.Rows {
		if r.c.Kind == clean {
			s.controls++
			if len(r.Accused) > 0 {
				s.accused++
			}
			continue
		}
		s.bugs++
		s.add(r)
	}
	return s
}

func (s *score) add(r row) {
	if r.Rank == 1 {
		s.first++
	}
	if r.Rank > 0 && r.Rank <= placed {
		s.near++
	}
	if r.Explained > 0 {
		s.explained++
	}
	if r.Fixed != nil {
		s.fixed++
		if r.Fixed.Explained > 0 {
			s.alarms++
		}
	}
	if r.Promise != nil && r.Measured != nil {
		s.promised++
		if r.Promise.Low <= r.Measured.High && r.Measured.Low <= r.Promise.High {
			s.kept++
		}
	}
}

func (t *table) write(w io.Writer) {
	s := t.score()
	own := len(t.Rows) > 0 && t.Rows[0].c.files != nil
	if own {
		pairs := ""
		if slices.ContainsFunc(t.Rows, func(r row) bool { return r.Fixed != nil }) {
			pairs = "-pairs "
		}
		fmt.Fprintf(w, "# Faults in small programs around real modules, and what hone says of them\n\nMade by `go run ./tools/field %s-w tools/field/testdata/own`; do not edit. Each case is a service or a\nprogram with one fault, whose place and cause were written down before hone saw it, and its fixed version.\nControls have nothing to report. `go doc ./tools/field` says what *placed* and *explained* mean.\n\n", pairs)
	} else {
		fmt.Fprint(w, "# Real bugs, and what hone says of them\n\nMade by `go run ./tools/field -w DIR`; do not edit. The cases are real performance bugs of public Go\nmodules, each with a small workload; `go doc ./tools/field` says what *placed* and *explained* mean.\n\n")
	}
	fmt.Fprintf(w, "%s, %d cores, recordings of up to %s.\n\n", runtime.Version(), runtime.NumCPU(), t.Duration)
	if t.fixed {
		fmt.Fprint(w, "At the versions that fixed the faults: what is explained here is a false alarm.\n\n")
	}
	fmt.Fprintf(w, "**Of %d bugs: %d at rank 1, %d placed, %d explained. Of %d clean cases %d accused.**\n\n", s.bugs, s.first, s.near, s.explained, s.controls, s.accused)
	if s.fixed > 0 {
		fmt.Fprintf(w, "Of %d fixed versions %d still get the explanation. The promised and the measured saving have a value in common in %d of %d. Promised is the sum over all findings above a hint that the fixed version no longer has, where one of them explains the case: a release repairs more than one thing. Measured is the CPU per operation of one recording of each, with the 95 %% interval of `hone compare`.\n\n", s.fixed, s.alarms, s.kept, s.promised)
	}
	if len(t.before) > 0 {
		t.writeFirst(w)
	}
	head, rule := "| case | module | kind | rank of the place | explained at | by |", "|---|---|---|---|---|---|"
	if len(t.before) > 0 {
		head, rule = head+" first look |", rule+"---|"
	}
	if s.fixed > 0 {
		head, rule = head+" fixed version | saves, promised | measured |", rule+"---|---|---|"
	}
	fmt.Fprintf(w, "%s\n%s\n", head, rule)
	for _, r := range t.Rows {
		fmt.Fprintf(w, "| %s | %s %s | %s | %s |%s%s\n", r.c.ID, r.c.Module, r.c.Bad, r.c.Kind, r.words(), t.firstWords(r), r.pairWords(s.fixed > 0))
	}
}

// writeFirst is a line for each batch of first looks.
func (t *table) writeFirst(w io.Writer) {
	batches := map[int]*score{}
	for _, r := range t.Rows {
		o, ok := t.before[r.c.ID]
		if !ok {
			continue
		}
		s := batches[o.Batch]
		if s == nil {
			s = &score{}
			batches[o.Batch] = s
		}
		if r.c.Kind != clean {
			s.bugs++
			s.add(row{verdict: verdict{Rank: o.Rank, Explained: o.Explained}})
			continue
		}
		s.controls++
		if len(o.Accused) > 0 {
			s.accused++
		}
	}
	for _, batch := range slices.Sorted(maps.Keys(batches)) {
		s := batches[batch]
		fmt.Fprintf(w, "At first look, before anything was changed for them, batch %d: of %d bugs %d at rank 1, %d placed, %d explained; of %d clean cases %d accused.\n\n",
			batch, s.bugs, s.first, s.near, s.explained, s.controls, s.accused)
	}
}

// firstWords is the cell of the first look.
func (t *table) firstWords(r row) string {
	if len(t.before) == 0 {
		return ""
	}
	o, ok := t.before[r.c.ID]
	switch {
	case !ok:
		return " – |"
	case r.c.Kind == clean && len(o.Accused) > 0:
		return " accused |"
	case r.c.Kind == clean:
		return " silent |"
	case o.Explained > 0:
		return fmt.Sprintf(" explained at %d |", o.Explained)
	case o.Rank > 0:
		return fmt.Sprintf(" place at %d |", o.Rank)
	}
	return " – |"
}

// pairWords are the cells of the fixed version.
func (r row) pairWords(wanted bool) string {
	if !wanted {
		return ""
	}
	state := "–"
	switch {
	case r.Fixed != nil && r.Fixed.Explained > 0:
		state = "still `" + r.Fixed.Rule + "`"
	case r.Fixed != nil:
		state = "silent"
	}
	return fmt.Sprintf(" %s | %s | %s |", state, r.Promise.percent(), r.Measured.percent())
}

func (s *span) percent() string {
	if s == nil {
		return "–"
	}
	return fmt.Sprintf("%.0f to %.0f %%", 100*s.Low, 100*s.High)
}

// words are the cells of the verdict.
func (r row) words() string {
	rank := func(n int) string {
		if n == 0 {
			return "–"
		}
		return fmt.Sprint(n)
	}
	switch {
	case r.err != nil:
		return "error | – | " + strings.ReplaceAll(lastLine(r.err.Error()), "|", "/")
	case r.c.Kind == clean && len(r.Accused) > 0:
		return "– | – | accused by `" + strings.Join(r.Accused, "`, `") + "`"
	case r.c.Kind == clean:
		return "– | – | silent"
	case r.Rank == 0:
		return "– | – | –"
	}
	return fmt.Sprintf("%s | %s | `%s`", rank(r.Rank), rank(r.Explained), r.Rule)
}
