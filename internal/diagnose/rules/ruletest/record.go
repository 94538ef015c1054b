//go:build live

package ruletest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/hone-go/hone/exectrace/analysis"
	"github.com/hone-go/hone/exectrace/parallelism"
	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
)

// Live builds and runs the program in an archive once and returns what the rule gets wrong; "" if
// that is nothing, or if no line of the program says what is right.
func Live(t *testing.T, r rule.Rule, archive string) string {
	t.Helper()
	read, err := parseRun(record(t, archive, extrasOf(r)))
	if err != nil {
		t.Fatal(err)
	}
	got, want := find(t, r, read.pass(t, archive)), Wanted(t, archive, r.ID)
	var wrong []string
	for _, line := range slices.Sorted(maps.Keys(want)) {
		if _, ok := got[line]; !ok && want[line] {
			wrong = append(wrong, line+" not found")
		}
	}
	for _, line := range slices.Sorted(maps.Keys(got)) {
		if _, known := want[line]; !known {
			wrong = append(wrong, line+" accused: "+got[line].Cause)
		}
	}
	return strings.Join(wrong, "; ")
}

// record builds the program in an archive, runs it, and returns what was recorded as text.
func record(t *testing.T, archive string, with extras) []byte {
	t.Helper()
	r, code := recordLive(t, archive, with)
	text, err := r.print(code)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// mostTraced bounds the lists of a trace's results that are kept.
const mostTraced = 40

// traceOf keeps of a trace's results what rules read.
func traceOf(results *analysis.Results) *traceFacts {
	cut := *results
	all := *results.Requests
	all.Slowest, all.Routes = nil, routesOf(all.Routes)
	cut.Requests = &all
	sched := *results.Sched
	sched.Lines = sched.Lines[:min(len(sched.Lines), mostTraced)]
	cut.Sched = &sched
	stacks := slices.Clone(results.Parallelism.Serial.Stacks)
	slices.SortStableFunc(stacks, func(a, b parallelism.SerialStack) int { return cmp.Compare(b.Seconds, a.Seconds) })
	return &traceFacts{Results: &cut, SerialStacks: stacks[:min(len(stacks), mostTraced)]}
}

// routesOf keeps of routes how long their requests take and wait for locks.
func routesOf(all []requests.Route) (cut []requests.Route) {
	for _, r := range all {
		places := slices.DeleteFunc(slices.Clone(r.Places), func(p requests.PlaceTime) bool {
			return p.Waiter == nil || p.Part != requests.WaitSync && p.Part != requests.WaitCond
		})
		if len(places) > 0 {
			cut = append(cut, requests.Route{Name: r.Name, Count: r.Count, Time: r.Time, Places: places})
		}
	}
	return cut
}

// print writes a run as an archive.
func (r *run) print(code *gocode.Index) ([]byte, error) {
	a := &txtar.Archive{Comment: []byte("Recorded by go test -update; see ruletest. Do not edit.\n")}
	add := func(name string, data []byte) { a.Files = append(a.Files, txtar.File{Name: name, Data: data}) }
	head, err := json.MarshalIndent(r.figures, "", "\t")
	if err != nil {
		return nil, err
	}
	add("figures.json", append(head, '\n'))
	add("build", []byte(r.buildInfo))
	for _, name := range profileNames() {
		if p := r.profiles[name]; p != nil {
			add(name, printTree(p, code))
		}
	}
	add("facts", []byte(r.facts))
	if r.counts != "" {
		add("counts", []byte(r.counts))
	}
	if r.inputs != nil {
		text, err := trimmedJSON(r.inputs, code)
		if err != nil {
			return nil, err
		}
		add("inputs.json", append(text, '\n'))
	}
	if r.traced != nil {
		text, err := trimmedJSON(r.traced, code)
		if err != nil {
			return nil, err
		}
		add("trace.json", append(text, '\n'))
	}
	return txtar.Format(a), nil
}

// trimmedJSON writes a value with its source files named as by TrimmedPath.
func trimmedJSON(v any, code *gocode.Index) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var tree any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&tree); err != nil {
		return nil, err
	}
	text, err = json.MarshalIndent(trim(tree, code), "", " ")
	return fold(text), err
}

// fold writes each innermost object and list of indented JSON on one line. Most of a trace is lines
// of source: with a line of JSON for each field, they take more.
func fold(text []byte) []byte {
	var out []byte
	var inner [][]byte // the lines since the last one that opened an object or a list
	for line := range bytes.Lines(text) {
		words := bytes.TrimSpace(line)
		opens := bytes.HasSuffix(words, []byte("{")) || bytes.HasSuffix(words, []byte("["))
		closes := bytes.HasPrefix(words, []byte("}")) || bytes.HasPrefix(words, []byte("]"))
		switch {
		case opens:
			out = append(out, bytes.Join(inner, nil)...)
			inner = append(inner[:0], line)
		case closes && len(inner) > 0:
			out = append(out, bytes.TrimRight(inner[0], "\n")...)
			for i, member := range inner[1:] {
				inner[1+i] = bytes.TrimSpace(member)
			}
			out = append(out, bytes.Join(inner[1:], []byte(" "))...)
			out = append(append(out, words...), '\n')
			inner = inner[:0]
		case len(inner) > 0:
			inner = append(inner, line)
		default:
			out = append(out, line...)
		}
	}
	return out
}

// trim also drops program counters, which no rule reads.
func trim(v any, code *gocode.Index) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "PC")
		for k, x := range v {
			v[k] = trim(x, code)
		}
	case []any:
		for i, x := range v {
			v[i] = trim(x, code)
		}
	case string:
		if filepath.IsAbs(v) {
			return code.TrimmedPath("", v)
		}
	}
	return v
}
