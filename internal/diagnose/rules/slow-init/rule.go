// Package slowinit finds packages whose initialisation takes much of a short run.
package slowinit

import (
	"fmt"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastShare is the minimum share of a run's time, and leastSeconds the minimum time, of a
	// package's initialisation.
	leastShare   = 0.05
	leastSeconds = 1e-3
	// mostNamed is how many lines of a package are named.
	mostNamed = 3
)

// fraction of the initialisation that a run does not wait for when it happens at first use: nothing
// if the run uses all of it.
var fraction = rule.Fraction{Expect: 0.9, Low: 0, High: 1}

// Rule is slow-init.
func Rule() rule.Rule {
	return rule.Rule{
		ID:     "slow-init",
		Kind:   rule.CPU,
		Needs:  []rule.Need{rule.NeedInits},
		Title:  "Package initialisation that every short run waits for",
		Doc:    doc,
		Finder: finder.Program{Judge: judge},
	}
}

const doc = `Package variables and init functions are initialised before main starts, in every
run, for all packages that the program imports, directly or not. A package that
compiles fifty regular expressions, parses templates or fills a large map takes
milliseconds for that, also when a command only prints its version. No profile
shows it, because profiles start later.

Initialise at first use: var re = sync.OnceValue(func() *regexp.Regexp { return
regexp.MustCompile(…) }), and the same for templates and tables. A table of
constants can be a switch, or a sorted array, which the linker lays out. If the
package is a dependency's, import it only in the program that needs it.

It is fine in services, which start once, and where every run uses it all. The
rule reports packages whose initialisation takes at least a millisecond and 5 %
of a run of at most two seconds, as traced by the runtime (GODEBUG=inittrace=1),
and as a hint if the profiles show that the run uses the package.

Seen in the field: cli/cli#7487 (34 ms of each run), go-playground/validator#1277
(10 ms of regular expressions), mattn/go-runewidth#104 (32 ms for a table),
gitleaks/gitleaks#1796 (160 ms).`

func judge(p *rule.Pass) []rule.Match {
	if p.Manifest.Target.Kind != "program" || p.Code == nil {
		return nil
	}
	clean, ok := p.Phase(recording.PhaseClean)
	if !ok || clean.Runs == 0 {
		return nil
	}
	run := clean.Seconds / float64(clean.Runs)
	var matches []rule.Match
	for _, in := range p.Manifest.Inits {
		if in.Package == "main" || in.Seconds < leastSeconds || in.Seconds < leastShare*run {
			continue // the profiles have the initialisation of package main
		}
		if m, ok := match(p, in, run); ok {
			matches = append(matches, m)
		}
	}
	return matches
}

// match describes a package's initialisation; false for packages of the standard library.
func match(p *rule.Pass, in recording.Init, run float64) (rule.Match, bool) {
	frame := site.Frame{Function: in.Package + ".init"}
	var lines []work
	if p.Syntax != nil {
		lines = expensive(p.Syntax.Initials(in.Package))
	}
	if len(lines) > 0 {
		at := lines[0].Fset.Position(lines[0].Node.Pos())
		frame.File, frame.Line = at.Filename, at.Line
	}
	frame.Owner = p.Code.Owner(frame.Function, frame.File)
	kind := frame.Owner.Kind
	if kind != gocode.Main && kind != gocode.Dependency {
		return rule.Match{}, false
	}
	m := rule.Match{Site: &site.Site{Frame: frame}, Confidence: rule.Likely}
	used := uses(p, in.Package)
	if used {
		m.Confidence = rule.Hint
	}
	m.Cause = fmt.Sprintf("The initialisation of package %s takes %s of each run, which takes %s, and allocates %s in %s objects. A run pays for it before main starts, also if it does not use the package.",
		in.Package, units.Seconds(in.Seconds), units.Seconds(run), units.Bytes(float64(in.AllocBytes)), units.Count(in.AllocObjects))
	if !used {
		m.Cause += " The profiles of these runs have no sample in the package."
	}
	if len(lines) > 0 {
		m.Cause += " " + named(lines)
	}
	m.Fix = "Initialise at first use, with sync.OnceValue or sync.Once."
	if len(lines) > 0 {
		m.Fix = lines[0].kind.fix()
	}
	if kind == gocode.Dependency {
		m.Fix = "Import the package only in a program that needs it; or report it: the package could initialise at first use (sync.OnceValue)."
	}
	m.Saving = fraction.Saving(in.Seconds, run)
	m.Evidence = append(m.Evidence, rule.Evidence{What: "initialisation, traced by the runtime",
		Value: fmt.Sprintf("%s of %s", units.Seconds(in.Seconds), units.Seconds(run))})
	return m, true
}

// uses reports whether the profiles have costs of a package's lines, after its initialisation.
func uses(p *rule.Pass, pkg string) bool {
	for _, s := range p.Table.Sites {
		if s.Owner.Package == pkg && len(s.CPU)+len(s.Allocs) > 0 {
			return true
		}
	}
	return false
}

// named says which lines of a package are expensive.
func named(lines []work) string {
	var parts []string
	for i, w := range lines {
		if i == mostNamed {
			parts = append(parts, fmt.Sprintf("%d more", len(lines)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("line %d %s", w.line(), w.kind.what()))
	}
	return "There, " + strings.Join(parts, ", ") + "."
}
