package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// result is an entry of latest.json: hone's latest result on a case. With them a page shows all
// cases, though a run tries only some: all take hours.
type result struct {
	Rank      int      `json:"rank,omitempty"`
	Explained int      `json:"explained,omitempty"`
	Rule      string   `json:"rule,omitempty"`
	Saving    float64  `json:"saving,omitempty"`  // of the finding that explains it
	Other     bool     `json:"other,omitempty"`   // of a fixed version: not the finding that explained the fault
	Accused   []string `json:"accused,omitempty"` // of a clean case
	Fixed     *result  `json:"fixed,omitempty"`
	Predicted *span    `json:"predicted,omitempty"`
	Measured  *span    `json:"measured,omitempty"`
}

// resultOf returns what is kept of a row.
func resultOf(r row) result {
	kept := r.verdict.result()
	kept.Predicted, kept.Measured = r.Promise, r.Measured
	if r.c.Kind == clean {
		kept = result{Accused: r.Accused}
	}
	if r.Fixed != nil {
		fixed := r.Fixed.result()
		kept.Fixed = &fixed
	}
	return kept
}

func (v *verdict) result() result {
	return result{Rank: v.Rank, Explained: v.Explained, Rule: v.Rule, Saving: v.Saving, Other: v.Other}
}

func (k *result) verdict() verdict {
	return verdict{Rank: k.Rank, Explained: k.Explained, Rule: k.Rule, Saving: k.Saving, Other: k.Other, Accused: k.Accused, Promise: k.Predicted}
}

// row returns the row of a case with that result.
func (k result) row(c *fieldCase) row {
	r := row{c: c, verdict: k.verdict(), Measured: k.Measured}
	if k.Fixed != nil {
		fixed := k.Fixed.verdict()
		r.Fixed = &fixed
	}
	return r
}

// latest adds the results of the rows to the file with the latest ones, and sets the rows to those
// of all cases in it. A case that could not be tried keeps its earlier result. One that was tried
// without its fixed version this time keeps what was measured of that.
func (t *table) latest(name string, cases []fieldCase) error {
	all := map[string]result{}
	text, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		if err := json.Unmarshal(text, &all); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, r := range t.Rows {
		if r.err != nil {
			continue
		}
		kept, before := resultOf(r), all[r.c.ID]
		if kept.Fixed == nil && r.c.Kind != clean {
			kept.Fixed, kept.Predicted, kept.Measured = before.Fixed, before.Predicted, before.Measured
		}
		all[r.c.ID] = kept
	}
	t.Rows = t.Rows[:0]
	for i := range cases {
		if kept, ok := all[cases[i].ID]; ok {
			t.Rows = append(t.Rows, kept.row(&cases[i]))
		}
	}
	if text, err = json.MarshalIndent(all, "", "\t"); err != nil {
		return err
	}
	return os.WriteFile(name, append(text, '\n'), 0o644)
}
