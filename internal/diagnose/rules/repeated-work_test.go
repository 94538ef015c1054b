package rules_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	repeatedwork "github.com/hone-go/hone/internal/diagnose/rules/repeated-work"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/recording"
)

const parsing = `package main

import (
	"os"
	"strings"
)

type parts struct{ words []string }

func parse(s string) (p parts) {
	for _, w := range strings.Fields(s) {
		p.words = append(p.words, w)
	}
	return p
}

func load(name string) string {
	text, _ := os.ReadFile(name)
	return string(text)
}

func handle(s string) int { return len(parse(s).words) } //@ pure | strings.Fields main.parse

func other(s string) int { return len(load(s)) } //@ file | os.ReadFile main.load

func main() {}
`

// TestRepeatedWorkScopes: where inputs repeat decides where the result is to be kept.
func TestRepeatedWorkScopes(t *testing.T) {
	for _, c := range []struct {
		what   string
		change func(p *rule.Pass, parse, load *inputs.Function)
		where  string // the line; "" when nothing is reported
		says   string // in the cause and the fix
	}{
		{"in a request", func(p *rule.Pass, parse, _ *inputs.Function) {
			p.Inputs.Requests, p.Inputs.Units = 100, 100
			parse.InRequest, parse.PerRequest = 2000, 200
		}, "pure", "20 calls in each request, with 2 different inputs. Call it once per request and pass the result on"},
		{"each of many inputs twice in a request", func(p *rule.Pass, parse, _ *inputs.Function) {
			p.Inputs.Requests, p.Inputs.Units = 100, 100
			parse.InRequest, parse.PerRequest = 2000, 1000
		}, "pure", "20 calls in each request, with 10 different inputs. Keep the results in a map by their input, for the time of the request, so that it is called once per request for each input."},
		{"some of many inputs twice in a request", func(p *rule.Pass, parse, _ *inputs.Function) {
			p.Inputs.Requests, p.Inputs.Units = 100, 100
			parse.InRequest, parse.PerRequest = 2000, 1200
		}, "pure", "Most of its inputs are new to the request, so the others are data that happen to be equal."},
		{"some of few inputs twice in a request", func(p *rule.Pass, parse, _ *inputs.Function) {
			p.Inputs.Requests, p.Inputs.Units = 500, 500
			parse.InRequest, parse.PerRequest = 2000, 1200
		}, "pure", "4 calls in each request, with 2.4 different inputs. Call it once per request and pass the result on"},
		{"nearly always what an earlier request had", func(p *rule.Pass, parse, _ *inputs.Function) {
			p.Inputs.Requests, p.Inputs.Units, p.Inputs.Targets = 500, 500, 60
			parse.InRequest, parse.PerRequest, parse.Different, parse.Identical = 2000, 1200, 5, 5
		}, "pure", "2,000 calls, with 5 different inputs. Cache the results by their input"},
		{"what earlier requests had, as the load has few", func(p *rule.Pass, parse, _ *inputs.Function) {
			p.Inputs.Requests, p.Inputs.Units, p.Inputs.Targets = 500, 500, 20
			parse.InRequest, parse.PerRequest, parse.Different, parse.Identical = 2000, 1200, 5, 5
		}, "pure", "Call it once per request and pass the result on"},
		{"what earlier requests had, as the request decides it", func(p *rule.Pass, parse, _ *inputs.Function) {
			p.Inputs.Requests, p.Inputs.Units, p.Inputs.Targets = 500, 500, 4
			parse.InRequest, parse.PerRequest, parse.Different, parse.Identical = 2000, 1200, 5, 5
		}, "pure", "Call it once per request and pass the result on"},
		{"in an iteration", func(p *rule.Pass, parse, _ *inputs.Function) {
			p.Inputs.Iterations, p.Inputs.Units = 100, 100
			parse.InRequest, parse.PerRequest = 2000, 200
		}, "pure", "Call it once per iteration and pass the result on."},
		{"seldom in a request", func(p *rule.Pass, parse, _ *inputs.Function) {
			p.Inputs.Requests, p.Inputs.Units = 100, 100
			parse.InRequest, parse.PerRequest, parse.Identical = 2000, 1900, 1900
		}, "", ""},
		{"in an operation of a benchmark", func(p *rule.Pass, parse, _ *inputs.Function) {
			p.Manifest.Target.Kind, p.Manifest.Target.Bench, p.Manifest.Load = "bench", ".", nil
			ph := &p.Manifest.Phases[0]
			ph.Benchmarks = []recording.Benchmark{{Samples: []recording.BenchSample{{Iterations: 60}, {Iterations: 40}}}}
			p.Inputs.Units, parse.Identical, parse.Different = 100, 5, 5
		}, "pure", "Call it once and pass the result on. Or: cache the results"},
		{"one after the other in an operation, with other inputs in the next", func(p *rule.Pass, parse, _ *inputs.Function) {
			p.Manifest.Target.Kind, p.Manifest.Target.Bench, p.Manifest.Load = "bench", ".", nil
			ph := &p.Manifest.Phases[0]
			ph.Benchmarks = []recording.Benchmark{{Samples: []recording.BenchSample{{Iterations: 300}, {Iterations: 200}}}}
			p.Inputs.Units, parse.Again = 499, []inputs.Again{{Calls: 1999, Same: 1500}}
		}, "pure", "4 calls in each operation, 75 % of them with the input of the call before."},
		{"in operations that follow each other", func(p *rule.Pass, parse, _ *inputs.Function) {
			p.Manifest.Target.Kind, p.Manifest.Target.Bench, p.Manifest.Load = "bench", ".", nil
			ph := &p.Manifest.Phases[0]
			ph.Benchmarks = []recording.Benchmark{{Samples: []recording.BenchSample{{Iterations: 300}, {Iterations: 200}}}}
			p.Inputs.Units, parse.Again = 2000, []inputs.Again{{Calls: 1999, Same: 1500}}
		}, "", ""},
		{"one after the other in a run, with many inputs", func(p *rule.Pass, parse, _ *inputs.Function) {
			p.Manifest.Target.Kind, p.Manifest.Load, p.Manifest.Phases[0].Runs = "program", nil, 1
			parse.Calls, parse.Hashed, parse.Identical, parse.Different = 11_500, 11_500, 10_500, 10_500
			parse.Again = []inputs.Again{{Calls: 11_499, Same: 7_705}}
		}, "pure", "11,500 calls were examined, 67 % of them with the input of the call before."},
		{"few in all operations, which differ in others", func(p *rule.Pass, parse, _ *inputs.Function) {
			p.Manifest.Target.Kind, p.Manifest.Target.Bench, p.Manifest.Load = "bench", ".", nil
			ph := &p.Manifest.Phases[0]
			ph.Benchmarks = []recording.Benchmark{{Samples: []recording.BenchSample{{Iterations: 300}, {Iterations: 200}}}}
			p.Inputs.Units, parse.Identical, parse.Different, parse.Stable = 499, 3, 3, 3
			parse.Calls, parse.Hashed, parse.Compared, parse.Same = 1500, 1500, 1400, 1400
			p.Inputs.Functions = append(p.Inputs.Functions, inputs.Function{Name: "main.other", Calls: 1000, Hashed: 1000, Different: 100})
		}, "parse", "1,500 calls, with 3 different inputs."},
		{"few in all operations, which have all inputs of others", func(p *rule.Pass, parse, load *inputs.Function) {
			p.Manifest.Target.Kind, p.Manifest.Target.Bench, p.Manifest.Load = "bench", ".", nil
			ph := &p.Manifest.Phases[0]
			ph.Benchmarks = []recording.Benchmark{{Samples: []recording.BenchSample{{Iterations: 300}, {Iterations: 200}}}}
			p.Inputs.Units, parse.Identical, parse.Different, parse.Stable = 499, 3, 3, 3
			parse.Calls, parse.Hashed, parse.Compared, parse.Same = 1500, 1500, 1400, 1400
			load.Calls, load.Different = 500*200, 200
		}, "", ""},
		{"in a run", func(p *rule.Pass, _, _ *inputs.Function) {
			p.Manifest.Target.Kind, p.Manifest.Load, p.Manifest.Phases[0].Runs = "program", nil, 1
		}, "pure", "2,000 calls in one run, with 200 different inputs."},
		{"in a run, of which the first calls were examined", func(p *rule.Pass, parse, _ *inputs.Function) {
			p.Manifest.Target.Kind, p.Manifest.Load, p.Manifest.Phases[0].Runs = "program", nil, 1
			parse.Stopped = true
		}, "", ""},
		{"in a run, with many inputs", func(p *rule.Pass, parse, _ *inputs.Function) {
			p.Manifest.Target.Kind, p.Manifest.Load, p.Manifest.Phases[0].Runs = "program", nil, 1
			parse.Calls, parse.Hashed, parse.Identical, parse.Different = 200_000, 200_000, 20_000, 20_000
		}, "", ""},
		{"calls that were not hashed", func(p *rule.Pass, parse, _ *inputs.Function) {
			p.Manifest.Target.Kind, p.Manifest.Load, p.Manifest.Phases[0].Runs = "program", nil, 1
			parse.Hashed = 1000
		}, "", ""},
		{"cheap calls", func(p *rule.Pass, parse, _ *inputs.Function) {
			p.Manifest.Target.Kind, p.Manifest.Load, p.Manifest.Phases[0].Runs = "program", nil, 1
			parse.Calls, parse.Hashed = 1e11, 1e11
		}, "", ""},
		{"without profiles", func(p *rule.Pass, _, _ *inputs.Function) {
			p.Manifest.Target.Kind, p.Manifest.Load, p.Manifest.Phases[0].Runs = "program", nil, 1
			p.Manifest.Phases = nil
		}, "", ""},
		{"a file that is read again", func(p *rule.Pass, _, load *inputs.Function) {
			load.Calls, load.Hashed, load.Different, load.Identical = 2000, 2000, 3, 3
			p.Inputs.Requests, p.Inputs.Units, p.Inputs.Targets = 2000, 2000, 5
		}, "load", "2,000 calls, with 3 different inputs. It reads a file each time."},
		{"files that are all different", func(p *rule.Pass, _, load *inputs.Function) {
			load.Calls, load.Hashed, load.Different, load.Identical = 2000, 2000, 1900, 1900
			p.Inputs.Requests, p.Inputs.Units = 2000, 2000
		}, "", ""},
		{"the same few inputs, though requests differ", func(p *rule.Pass, parse, _ *inputs.Function) {
			parse.Identical, parse.Different = 5, 5
			p.Inputs.Requests, p.Inputs.Units, p.Inputs.Targets = 2000, 2000, 500
		}, "parse", "Cache the results by their input"},
		{"an input that the request decides", func(p *rule.Pass, parse, load *inputs.Function) {
			parse.Identical, parse.Different, parse.InRequest, parse.PerRequest = 50, 50, 2000, 2000
			load.Different, p.Inputs.Requests, p.Inputs.Units, p.Inputs.Targets = 600, 1000, 1000, 25
		}, "parse", "The request decides the input, so each request computes it once. Cache"},
		{"the same few inputs of a load that has no others", func(p *rule.Pass, parse, _ *inputs.Function) {
			parse.Identical, parse.Different = 5, 5
			p.Inputs.Requests, p.Inputs.Units, p.Inputs.Targets = 2000, 2000, 5
		}, "", ""},
		{"one body that all requests send", func(p *rule.Pass, parse, _ *inputs.Function) {
			parse.Identical, parse.Different = 1, 1
			p.Inputs.Requests, p.Inputs.Units, p.Inputs.Targets = 2000, 2000, 500
			p.Manifest.Load = &recording.Load{Targets: []string{"POST http://127.0.0.1/"}}
		}, "", ""},
		{"the same pointers", func(p *rule.Pass, parse, _ *inputs.Function) {
			parse.Identical, parse.Different, parse.Params = 5, 5, []inputs.Taken{inputs.ByAddress}
			p.Inputs.Requests, p.Inputs.Units, p.Inputs.Targets = 2000, 2000, 500
		}, "parse", "(of pointers the address and what they point at)"},
	} {
		p, names := ruletest.MadeUp(t, parsing)
		names[12], names[18] = "parse", "load" // where results can be kept for all callers
		file := p.Table.Sites[0].File
		p.Inputs = &inputs.Counts{Units: 1, Functions: []inputs.Function{
			{Name: "main.parse", Line: 10, Calls: 2000, Hashed: 2000, Different: 200, Identical: 200},
			{Name: "main.load", Line: 17, Calls: 10, Hashed: 10, Different: 10, Identical: 10},
		}}
		for i := range p.Inputs.Functions {
			f := &p.Inputs.Functions[i]
			f.Package, f.File, f.Params = "example.com/madeup", file, []inputs.Taken{inputs.ByValue}
		}
		p.Manifest.Phases = []recording.Phase{{Name: recording.PhaseCPU, Requests: 100, Seconds: 10}}
		p.Manifest.Load = &recording.Load{Targets: []string{"GET http://127.0.0.1/"}}
		p.Table.Totals.TotalSeconds = 3
		for _, s := range p.Table.Sites {
			for _, r := range s.CPU {
				if f := r.Stack[1]; strings.HasPrefix(f.Function, "main.") {
					f.Owner, f.File, f.Line = s.Owner, file, map[string]int{"main.parse": 12, "main.load": 18}[f.Function]
				}
			}
		}
		c.change(p, &p.Inputs.Functions[0], &p.Inputs.Functions[1])
		where, text := "", ""
		for _, m := range matchesOf(t, repeatedwork.Rule(), p) {
			where, text = where+names[m.Site.Line], text+m.Cause+" "+m.Fix
		}
		if where != c.where || !strings.Contains(text, c.says) {
			t.Errorf("%s: %q %s", c.what, where, text)
		}
	}
}

const checking = `package main

import "strings"

func check(value []string, fs []func(string) bool) bool {
	for i := range value {
		text := strings.Join(value[:i+1], " ") //@ join | strings.Join main.check main.check
		for _, f := range fs {
			if f(text) && (i == len(value)-1 || check(value[i+1:], fs)) {
				return true
			}
		}
	}
	return false
}

func main() { check(words, nil) } //@ main | strings.Join main.check main.check

var words []string
`

// TestRepeatedWorkRecursion: a recursion that gets few inputs again and again, and returns the
// same, solves the same parts again, even if it calls functions that it is given.
func TestRepeatedWorkRecursion(t *testing.T) {
	for _, c := range []struct {
		change func(*inputs.Function)
		says   string
	}{
		{func(*inputs.Function) {}, "memoization"},
		{func(f *inputs.Function) { f.Same /= 2 }, ""},
		{func(f *inputs.Function) { f.Compared, f.Same = 800, 800 }, ""},
		{func(f *inputs.Function) { f.Stable, f.Identical, f.Different = 60_000, 60_000, 60_000 }, ""},
	} {
		p, _ := ruletest.MadeUp(t, checking)
		f := inputs.Function{
			Name: "main.check", Package: "example.com/madeup", File: p.Table.Sites[0].File, Line: 5, Calls: 262_144, Hashed: 262_144,
			Different: 11, Identical: 11, Stable: 11, Compared: 262_133, Same: 262_133, Stopped: true,
			Params: []inputs.Taken{inputs.ByValue, inputs.ByAddress},
		}
		c.change(&f)
		p.Inputs = &inputs.Counts{Units: 90, Functions: []inputs.Function{f}}
		p.Manifest.Target.Kind, p.Manifest.Target.Bench = "bench", "."
		p.Manifest.Phases = []recording.Phase{{Name: recording.PhaseCPU, Seconds: 10,
			Benchmarks: []recording.Benchmark{{Samples: []recording.BenchSample{{Iterations: 60}}}}}}
		p.Table.Totals.TotalSeconds = 3
		text := ""
		for _, m := range matchesOf(t, repeatedwork.Rule(), p) {
			text += m.Cause + " " + m.Fix
		}
		if c.says == "" && text != "" || !strings.Contains(text, c.says) {
			t.Errorf("%+v: %s", f, text)
		}
	}
}

const collecting = `package main

type node struct {
	name string
	kids []*node
}

type names struct {
	of   map[string]int
	list []string
}

func (n *names) Push(s string) {
	n.of[s]++
	n.list = append(n.list, s)
}

func collect(n *node) *names {
	all := &names{of: map[string]int{}}
	for _, k := range n.kids {
		all.Push(k.name)
	}
	return all
}

func pairs(nodes []*node) (n int) {
	for _, a := range nodes {
		for _, b := range nodes {
			n += len(collect(a).list) * len(collect(b).list) //@ pairs | runtime.mapassign_faststr main.(*names).Push main.collect
		}
	}
	return n
}

func main() { pairs(nil) }
`

// TestRepeatedWorkObjects: the same is computed again from each of many objects that do not change
// within an operation.
func TestRepeatedWorkObjects(t *testing.T) {
	for _, c := range []struct {
		source string
		change func(*inputs.Function)
		says   string
	}{
		{collecting, func(*inputs.Function) {}, "What its pointers point at did not change"},
		{collecting, func(f *inputs.Function) { f.Same -= 5000 }, ""},
		{collecting, func(f *inputs.Function) { f.Stable = 2000 }, ""},
		{collecting, func(f *inputs.Function) { f.Identical, f.Stable, f.Different = 250_000, 250_000, 250_000 }, ""},
		{strings.Replace(collecting, "n += len(collect(a).list)", "x := collect(a); x.Push(b.name); n += len(x.list)", 1), func(*inputs.Function) {}, ""},
		{strings.Replace(collecting, "return all", "n.name = \"seen\"; return all", 1), func(*inputs.Function) {}, ""},
	} {
		p, _ := ruletest.MadeUp(t, c.source)
		f := inputs.Function{
			Name: "main.collect", Package: "example.com/madeup", File: p.Table.Sites[0].File, Line: 18, Calls: 262_144, Hashed: 262_144,
			Different: 4, Identical: 1200, Stable: 1200, Compared: 260_000, Same: 260_000,
			Params: []inputs.Taken{inputs.ByAddress},
		}
		c.change(&f)
		p.Inputs = &inputs.Counts{Units: 9, Functions: []inputs.Function{f}}
		p.Manifest.Target.Kind, p.Manifest.Target.Bench = "bench", "."
		p.Manifest.Phases = []recording.Phase{{Name: recording.PhaseCPU, Seconds: 10,
			Benchmarks: []recording.Benchmark{{Samples: []recording.BenchSample{{Iterations: 9}}}}}}
		p.Table.Totals.TotalSeconds = 3
		text := ""
		for _, m := range matchesOf(t, repeatedwork.Rule(), p) {
			text += m.Cause + " " + m.Fix
		}
		if c.says == "" && text != "" || !strings.Contains(text, c.says) {
			t.Errorf("%+v: %s", f, text)
		}
	}
}

const unwritten = `package main

import (
	"crypto/sha256"
	"encoding/json"
)

type deed struct {
	owner string
	lots  []string
}

func newDeed(owner string, lots []string) *deed { return &deed{owner, lots} }

func (d *deed) text() []byte {
	b, _ := json.Marshal(d.lots) //@ text | encoding/json.Marshal < order
	return b
}

func order(a, b *deed) bool {
	return string(a.text()) < string(b.text()) //: order
}

func change(d *deed) {}

var _ = sha256.Sum256

func main() { order(newDeed("", nil), newDeed("", nil)) }
`

// TestRepeatedWorkUnwritten: methods of values that do not change after they were made, called
// again and again for each of them.
func TestRepeatedWorkUnwritten(t *testing.T) {
	write := func(body string) string { return strings.Replace(unwritten, "d *deed) {}", "d *deed) { "+body+" }", 1) }
	for _, c := range []struct {
		source string
		made   uint64
		change func(*inputs.Function)
		says   string
	}{
		{unwritten, 10, func(*inputs.Function) {}, "A deed does not change after it was made"},
		{write("e := &deed{}; e.owner = d.owner; use(e)") + "\nfunc use(*deed) {}\n", 10, func(*inputs.Function) {}, "when the deed is made"},
		{unwritten + "\nfunc (d *deed) UnmarshalText(b []byte) error { d.owner = string(b); return nil }\n", 10, func(*inputs.Function) {}, "when the deed is made"},
		// It changes, or may change.
		{write("d.owner = \"\""), 10, func(*inputs.Function) {}, ""},
		{write("d.lots[0] = \"\""), 10, func(*inputs.Function) {}, ""},
		{write("d.lots = append(d.lots, \"\")"), 10, func(*inputs.Function) {}, ""},
		{write("*d = deed{}"), 10, func(*inputs.Function) {}, ""},
		{write("clear(d.lots)"), 10, func(*inputs.Function) {}, ""},
		{write("fill(&d.owner)") + "\nfunc fill(*string) {}\n", 10, func(*inputs.Function) {}, ""},
		{strings.Replace(unwritten, "owner string", "owner *string", 1) + "\n", 10, func(*inputs.Function) {}, ""},
		// Each value has it computed once or twice, or there are too many values.
		{unwritten, 600, func(*inputs.Function) {}, ""},
		{unwritten, 10, func(f *inputs.Function) { f.Identical = 1500 }, ""},
		{unwritten, 10, func(f *inputs.Function) { f.Calls, f.Hashed = 900, 900 }, ""},
	} {
		source := strings.ReplaceAll(c.source, "newDeed(\"\"", "newDeed(owner")
		source = strings.Replace(source, "{ return &deed{owner, lots} }", "{\n\treturn &deed{owner, lots}\n}", 1) + "\nvar owner string\n"
		if strings.Contains(source, "owner *string") {
			source = strings.NewReplacer("newDeed(owner string", "newDeed(owner *string", "var owner string", "var owner *string").Replace(source)
		}
		p, names := ruletest.MadeUp(t, source)
		f := inputs.Function{
			Name: "main.(*deed).text", Package: "example.com/madeup", File: p.Table.Sites[0].File, Line: 17, Calls: 2000, Hashed: 2000,
			Different: 1, Identical: 200, Stable: 40, Compared: 1900, Same: 1100, InRequest: 2000, PerRequest: 1900, Params: []inputs.Taken{},
		}
		c.change(&f)
		p.Inputs = &inputs.Counts{Units: 100, Requests: 100, Functions: []inputs.Function{f}}
		p.Counts = ranTimes(60, func(line int) uint64 {
			if line == 18 {
				return 1500
			}
			return c.made
		})
		p.Manifest.Phases = []recording.Phase{{Name: recording.PhaseCPU, Requests: 100, Seconds: 10}}
		p.Table.Totals.TotalSeconds = 3
		where, text := "", ""
		for _, m := range matchesOf(t, repeatedwork.Rule(), p) {
			where, text = where+names[m.Site.Line], text+m.Cause+" "+m.Fix
		}
		if c.says == "" && text != "" || c.says != "" && where != "text" || !strings.Contains(text, c.says) {
			t.Errorf("%s: %q %s", c.source[strings.Index(c.source, "func change"):], where, text)
		}
	}
}

// TestRepeatedWorkServed: a document that is made again under a lock for each request, and others
// that differ each time.
func TestRepeatedWorkServed(t *testing.T) {
	r := repeatedwork.Rule()
	archive := filepath.Join(r.ID, "testdata", "served.txtar")
	ruletest.Compare(t, r, ruletest.RecordFor(t, r, archive), ruletest.Wanted(t, archive, r.ID))
}

// TestRepeatedWorkCounts: a function that counts in an object of another package repeats no work.
func TestRepeatedWorkCounts(t *testing.T) {
	r := repeatedwork.Rule()
	ruletest.Compare(t, r, ruletest.RecordFor(t, r, filepath.Join(r.ID, "testdata", "counts.txtar")), nil)
}

// TestRepeatedWorkMarks: recursions over graphs that mark only what is on the way to a node, and
// searches whose result depends on the way.
func TestRepeatedWorkMarks(t *testing.T) {
	r := repeatedwork.Rule()
	archive := filepath.Join(r.ID, "testdata", "marks.txtar")
	ruletest.Compare(t, r, ruletest.RecordFor(t, r, archive), ruletest.Wanted(t, archive, r.ID))
}
