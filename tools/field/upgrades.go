package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/mod/semver"

	"github.com/hone-go/hone/internal/altmod"
	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/experiment/tunedeps"
	"github.com/hone-go/hone/internal/session"
)

// upgrade is the result of `hone tune deps` on a case, as upgrades.json stores it. Thirty cases
// take most of an hour, so each result is stored immediately, and the page is written from the
// stored results.
type upgrade struct {
	Module  string   `json:"module"`
	Kind    string   `json:"kind"`
	Bad     string   `json:"bad"`
	Good    string   `json:"good,omitempty"`   // the version known to fix the bug; "" if none does
	Listed  string   `json:"listed,omitempty"` // the first release, from Good on, that the go command lists; absent in older results
	Named   string   `json:"named,omitempty"`
	Metric  string   `json:"metric,omitempty"`
	Old     float64  `json:"old,omitempty"`
	Ratio   float64  `json:"ratio,omitempty"`
	Tried   int      `json:"tried"`
	Why     string   `json:"why,omitempty"`    // why none was named
	Others  []string `json:"others,omitempty"` // versions named for other modules
	Seconds float64  `json:"seconds"`
}

// right reports whether the answer is correct: a version that is newer than Bad and not newer than
// the first listed one that is known to fix the bug, or no version if none fixes it.
func (u upgrade) right() bool {
	if u.Good == "" {
		return u.Named == "" && len(u.Others) == 0
	}
	return u.Named != "" && semver.Compare(u.Named, u.Bad) > 0 && semver.Compare(u.Named, cmp.Or(u.Listed, u.Good)) <= 0
}

// upgrades tries the chosen cases, stores each result in the file kept, and writes the page of all
// results.
func upgrades(ctx context.Context, cases []fieldCase, only, work, kept string, duration time.Duration, w io.Writer) error {
	all := map[string]upgrade{}
	text, err := os.ReadFile(kept)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", kept, err)
	}
	for i := range cases {
		c := &cases[i]
		if only == "none" || only != "" && !chosen(c.ID, only) {
			continue
		}
		u, err := tryUpgrade(ctx, c, work, duration)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.ID, err)
		}
		fmt.Fprintf(os.Stderr, "%s | named %s, known %s | %s | right: %t | %.0f s\n", c.ID, u.Named, u.Good, u.Why, u.right(), u.Seconds)
		all[c.ID] = u
		if text, err = json.MarshalIndent(all, "", "\t"); err == nil {
			err = os.WriteFile(kept, append(text, '\n'), 0o644)
		}
		if err != nil {
			return err
		}
	}
	_, err = w.Write(upgradesPage(all, len(cases)))
	return err
}

// tryUpgrade searches for a version that fixes a case, as `hone tune deps -bench . .` does.
func tryUpgrade(ctx context.Context, c *fieldCase, work string, duration time.Duration) (upgrade, error) {
	u := upgrade{Module: c.Module, Kind: c.Kind, Bad: c.Bad}
	if c.UpgradeFixes {
		u.Good = c.Good
	}
	dir := filepath.Join(work, "upgrade-"+c.ID)
	if err := os.RemoveAll(dir); err != nil {
		return u, err
	}
	if err := c.copy(ctx, dir, false); err != nil {
		return u, err
	}
	o := capture.Options{Package: ".", Dir: dir, RunDir: dir, Arg: c.ID, Duration: duration, Warmup: 5 * time.Second}
	if _, err := os.Stat(filepath.Join(dir, "case_test.go")); err == nil {
		o.Bench = "."
	}
	if c.UpgradeFixes {
		if err := u.list(ctx, dir, work); err != nil {
			return u, err
		}
	}
	r, err := tunedeps.Run(ctx, session.Config{CacheDir: work, Version: "field"}, tunedeps.Spec{Options: o})
	if err != nil {
		return u, err
	}
	u.Seconds, u.Why = r.Seconds, r.Why
	for _, m := range r.Modules {
		u.Tried += len(m.Tried)
		switch {
		case m.Path == c.Module && m.Cure == nil:
			u.Why = m.Why
		case m.Path == c.Module:
			u.Named, u.Metric, u.Old = m.Cure.Version, m.Cure.Metric, m.Cure.Old
			for _, row := range m.Cure.Comparison.Rows {
				if row.Name == m.Cure.Name && row.Metric == m.Cure.Metric && row.Ratio != nil {
					u.Ratio = *row.Ratio
				}
			}
		case m.Cure != nil:
			u.Others = append(u.Others, m.Path+"@"+m.Cure.Version)
		}
	}
	if u.Named == "" && u.Why == "" {
		u.Why = "the module was not examined"
	}
	return u, nil
}

// list sets Listed.
func (u *upgrade) list(ctx context.Context, dir, work string) error {
	alternate, err := os.MkdirTemp(work, "list-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(alternate)
	tree, err := altmod.Open(ctx, "go", dir, alternate)
	if err != nil {
		return err
	}
	newer, err := tree.Newer(ctx, u.Module, u.Bad)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(newer, func(v string) bool { return semver.Compare(v, u.Good) >= 0 }); i >= 0 {
		u.Listed = newer[i]
	}
	return nil
}

// upgradesPage returns docs/field-upgrades.md.
func upgradesPage(all map[string]upgrade, cases int) []byte {
	var b bytes.Buffer
	var cured, curable, quiet, controls int
	for _, u := range all {
		switch {
		case u.Good == "":
			controls++
			if u.right() {
				quiet++
			}
		default:
			curable++
			if u.right() {
				cured++
			}
		}
	}
	fmt.Fprintf(&b, `# Versions that fix a bug

Real performance bugs of public modules, at the version that has the bug. For each, `+"`hone tune deps -bench . .`"+` searches for a version that fixes it,
without knowing which module to examine. An answer is right if the version is newer than the one with the bug and not newer than the one whose
release notes or commits mention the fix; for controls, if no version is named. hone tries the releases that `+"`go list -m -versions`"+` lists. If the
release with the fix is not listed, as by the module proxy of these runs, the first one after it counts; it is given in brackets.

**%d of %d upgrades found; none named for %d of %d controls. %d of %d cases have been tried.**

Generated by `+"`go run ./tools/field -upgrades -w DIR`, where DIR has the cases; `-only`"+` tries some of them, and the others
keep their figures.

| case | kind | module | bug in | fixed in | hone names | what it saves | versions tried | right |
|---|---|---|---|---|---|---|---|---|
`, cured, curable, quiet, controls, len(all), cases)
	for _, id := range slices.Sorted(maps.Keys(all)) {
		u := all[id]
		saves, named, right := u.Why, u.Named, "no"
		if u.Named != "" {
			saves = fmt.Sprintf("%s −%.0f %%", u.Metric, 100*(1-u.Ratio))
		} else {
			named = "none"
		}
		if u.right() {
			right = "yes"
		}
		for _, o := range u.Others {
			named += ", " + o
		}
		good := u.Good
		switch {
		case good == "":
			good = "–"
		case u.Listed != "" && u.Listed != good:
			good += " (" + u.Listed + ")"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %d | %s |\n", id, u.Kind, u.Module, u.Bad, good, named, saves, u.Tried, right)
	}
	return b.Bytes()
}
