// Package directorypolling finds directories that are listed again on every tick of a timer.
package directorypolling

import (
	"context"
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastPasses is the minimum number of listings in a run.
	leastPasses = 20
	// leastPerSecond is the minimum number of listings in a second.
	leastPerSecond = 0.5
)

// Rule is directory-polling.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "directory-polling",
		Kind:  rule.IO,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Directories listed again on every tick",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Listing every few seconds, or when the system reports a change, leaves little of
				// it. How often new files must be found is not known.
				Fraction:    rule.Fraction{Expect: 0.85, Low: 0.3, High: 1},
				Specificity: 1,
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A loop that waits for a timer lists directories each time (filepath.Glob,
filepath.WalkDir, os.ReadDir), to see whether files have come or gone. Every
listing opens and reads each directory, and Glob and Walk ask for information on
the entries as well: for a few hundred directories that is milliseconds of CPU,
although files seldom come.

List less often than the files are read: every few seconds, with a timer of its
own, and keep the names. Or let the system report changes (inotify, through the
module fsnotify), and list only then and once in a while. A directory whose
modification time is the same has no new names: one os.Stat answers that.

It is fine where a new file must be found within milliseconds, and where the
listing is the work: a queue of files that the pass removes. The rule reports
listings in a loop that sleeps or waits for a ticker, that run for each of its
iterations with the same names, at least every two seconds; what they return is
not known. It leaves alone programs that remove or rename files as often.

Seen in the field: google/mtail#603 (60 % of a CPU without new lines),
odigos-io/odigos#4577, radovskyb/watcher#24.`

// listings are functions that list directories, as profiles name them.
func listings() []string {
	return []string{
		"path/filepath.Glob", "path/filepath.Walk*", "os.ReadDir", "io/ioutil.ReadDir", "io/fs.Glob", "io/fs.WalkDir", "io/fs.ReadDir", "os.(*File).Readdir*", "os.(*File).ReadDir",
		"github.com/bmatcuk/doublestar*.Glob*", "github.com/bmatcuk/doublestar*.FilepathGlob",
	}
}

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	judge := func(c *finder.Case) bool {
		calls := syntax.CallsOf(c.Place, typeNames()...)
		if len(calls) == 0 {
			return false
		}
		runs, ok := evidence.ReachedAt(p, c.Place, calls[0].Pos())
		if !ok || !often(p, runs) || consumed(p, runs) {
			return false
		}
		in, loop := pacing(p, c, calls[0], runs)
		if loop == nil {
			return false
		}
		describe(c, calls[0], in, loop, runs)
		return true
	}
	return finder.Line{Start: finder.Frames(listing), Judge: judge}
}

// listing returns the index of the frame that lists a directory in a row's stack; -1 for none. What
// the program does with each entry is not a part of it, except asking for information on it.
func listing(r *site.Row) int {
	for i := 1; i < len(r.Stack); i++ {
		if k := r.Stack[i].Owner.Kind; k != gocode.Main && k != gocode.Dependency {
			continue
		}
		if called := r.Stack[i-1].Function; funcname.Match(called, listings()...) {
			return i
		} else if !funcname.Match(called, "os.(*unixDirent).*", "os.(*fileStat).*", "os.Lstat", "os.Stat", "path/filepath.*", "strings.*") {
			return -1
		}
	}
	return -1
}

// typeNames are the type checker's names of the listings.
func typeNames() []string {
	return append(funcname.TypedAll(listings()), "io/fs.ReadDir", "(io/fs.ReadDirFile).ReadDir")
}

// often reports whether a line that runs so often for each unit of work polls.
func often(p *rule.Pass, runs float64) bool {
	ph, ok := p.Manifest.Phase(recording.PhaseCounts)
	if p.Manifest.Unit() == "run" {
		return runs >= leastPasses && (!ok || ph.Seconds <= 0 || runs*max(1, float64(ph.Runs)) >= leastPerSecond*ph.Seconds)
	}
	return ok && ph.Seconds > 0 && runs*float64(ph.Requests) >= leastPerSecond*ph.Seconds
}

// consumed reports whether the program removes or renames files as often as it lists directories.
func consumed(p *rule.Pass, runs float64) bool {
	for _, name := range []string{"os.Remove", "os.RemoveAll", "os.Rename"} {
		for _, place := range p.Syntax.CallsOf(name) {
			for _, call := range syntax.CallsOf(place, name) {
				if n, ok := evidence.ReachedAt(p, place, call.Pos()); ok && n >= 0.5*runs {
					return true
				}
			}
		}
	}
	return false
}

// pacing returns the loop that waits for time around a listing or around calls of its function, and
// a place in its function; nil for none.
func pacing(p *rule.Pass, c *finder.Case, call *ast.CallExpr, runs float64) (in *gocode.Place, loop ast.Node) {
	for _, r := range c.CPU {
		at := listing(r)
		place, on := c.Place, call
		for i := at; i >= 0 && i < len(r.Stack); i++ {
			f := r.Stack[i]
			if f.Owner.Kind != gocode.Main && f.Owner.Kind != gocode.Dependency {
				break
			}
			if i > at {
				var ok bool
				if place, ok = p.Syntax.At(f.File, f.Line); !ok {
					break
				}
				above := loops.CallTo(place, r.Stack[i-1].Function)
				if above == nil {
					break
				}
				on = above
			}
			for _, l := range loops.Around(place, on) {
				if waitsForTime(place, l, on) && eachTime(p, place, l, runs) && sameEachTime(place, l, on) {
					return place, l
				}
			}
		}
	}
	return nil, nil
}

// eachTime reports whether a line that runs so often does so in most iterations of a loop.
func eachTime(p *rule.Pass, place *gocode.Place, loop ast.Node, runs float64) bool {
	body := loops.Body(loop)
	if body == nil || len(body.List) == 0 {
		return false
	}
	n, ok := evidence.ReachedAt(p, place, body.List[0].Pos())
	return ok && n > 0 && runs >= 0.5*n
}

func describe(c *finder.Case, call *ast.CallExpr, in *gocode.Place, loop ast.Node, runs float64) {
	c.Confidence = rule.Likely // how often new files must be found is not known
	p := c.Pass
	passes := runs
	if n, ok := evidence.ReachedAt(p, in, loops.Body(loop).List[0].Pos()); ok && n < runs {
		passes = n
	}
	name := syntax.Text(call.Fun)
	lists := "lists directories again on every tick"
	if passes < 0.9*runs {
		lists = fmt.Sprintf("lists %s directories again on every tick", units.Number(runs/passes))
	}
	unit := p.Manifest.Unit()
	c.Cause = fmt.Sprintf("%s %s of the loop on %s, which waits for a timer: %s %s. Whether the files changed in between is not recorded.",
		name, lists, syntax.Where(in, loop.Pos()), evidence.Times(runs), "per "+unit)
	c.Fix = "List less often than the files are read: every few seconds, on a timer of its own, and keep the names. Or let the system report new files (the module fsnotify), or list a directory again only if its modification time has changed (os.Stat)."
	ns := int64(0)
	for _, r := range c.CPU {
		ns += r.Value
	}
	if each, ok := evidence.PerExecution(p, c.Site.Frame, float64(ns)/1e9); ok {
		c.Cause += fmt.Sprintf(" A pass takes %s of CPU here.", units.Seconds(each*runs/passes))
	}
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: fmt.Sprintf("%s listings per %s, in %s iterations", units.Number(runs), unit, units.Number(passes))})
}
