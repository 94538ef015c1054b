package rules_test

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/diagnose/rule"
	repeatedwork "github.com/hone-go/hone/internal/diagnose/rules/repeated-work"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/recording"
)

const building = `package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"net/http"
)

type store struct{ db *sql.DB }

func (s *store) programme(ctx context.Context, fleet int) ([]byte, error) {
	var names []string
	rows, err := s.db.QueryContext(ctx, "SELECT name FROM tasks WHERE fleet = ?", fleet)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var n string
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		names = append(names, n)
	}
	return json.Marshal(names)
}

func (s *store) toggle(id int) {
	s.db.Exec("UPDATE tasks SET active = 1 WHERE id = ?", id) //: toggle
}

func page(s *store, w http.ResponseWriter, r *http.Request) {
	text, _ := s.programme(r.Context(), 3) //@ page | database/sql.(*DB).QueryContext main.(*store).programme
	w.Write(text)
}

func list(s *store, w http.ResponseWriter, r *http.Request) {
	text, _ := s.programme(r.Context(), 3) //@ list | encoding/json.Marshal main.(*store).programme
	w.Write(text)
}

func main() {}
`

// TestRepeatedWorkBuilt: a document of rows is made for each request, for few inputs.
func TestRepeatedWorkBuilt(t *testing.T) {
	inside := func(function string) func(*rule.Pass, *inputs.Function) {
		return func(p *rule.Pass, _ *inputs.Function) { p.Table.Sites[0].CPU[0].Stack[0].Function = function }
	}
	const says = "reads rows and makes its result of them again for each request: 2,000 calls, with 5 different inputs, for 60 different requests"
	for _, c := range []struct {
		what   string
		change func(*rule.Pass, *inputs.Function)
		says   string
	}{
		{"a query", func(*rule.Pass, *inputs.Function) {}, says},
		{"a prepared statement", inside("database/sql.(*Stmt).QueryContext"), says},
		{"a client of PostgreSQL", inside("github.com/jackc/pgx/v5/pgxpool.(*Pool).Query"), says},
		{"another service", inside("net/http.(*Client).Get"), "asks another service and makes its result of the answer again for each request: 2,000 calls"},
		{"a transaction", inside("database/sql.(*Tx).QueryContext"), ""},
		{"a statement that changes rows", inside("database/sql.(*DB).ExecContext"), ""},
		{"no query", inside("encoding/json.Marshal"), ""},
		{"rows that each request changes", func(p *rule.Pass, _ *inputs.Function) { p.Counts = ran(map[int]string{30: "toggle"}, 1) }, ""},
		{"mostly the query", func(p *rule.Pass, _ *inputs.Function) {
			for _, s := range p.Table.Sites {
				s.CPU[0].Stack[0].Function = "database/sql.(*DB).QueryContext"
			}
		}, ""},
		{"what the request decides", func(_ *rule.Pass, f *inputs.Function) { f.Different, f.Identical, f.Stable = 60, 60, 60 }, ""},
		{"a load of few requests", func(_ *rule.Pass, f *inputs.Function) { f.Targets = 6 }, ""},
		{"another result", func(_ *rule.Pass, f *inputs.Function) { f.Same -= 200 }, ""},
		{"a small share", func(p *rule.Pass, _ *inputs.Function) {
			p.Table.Totals.TotalSeconds, p.Table.Totals.AllocBytes = 100, 1e9
		}, ""},
	} {
		p, names := ruletest.MadeUp(t, building)
		file := p.Table.Sites[0].File
		f := inputs.Function{
			Name: "main.(*store).programme", Package: "example.com/madeup", File: file, Line: 12, Calls: 2000, Hashed: 2000, Different: 5, Identical: 5,
			Stable: 5, InRequest: 2000, PerRequest: 2000, StablePerRequest: 2000, Compared: 1940, Same: 1940, Targets: 60,
			Params: []inputs.Taken{inputs.ByValue, inputs.ByValue},
		}
		names[30] = "toggle"
		served(p, 2000, ran(names, 0))
		c.change(p, &f)
		p.Inputs.Functions = []inputs.Function{f}
		says := saidOf(t, p, file, map[string]int{f.Name: 25})
		if c.says == "" && strings.Contains(says, "makes its result") || !strings.Contains(says, c.says) {
			t.Errorf("%s: %s", c.what, says)
		}
	}
}

// served makes a pass up for a load of so many requests.
func served(p *rule.Pass, n int64, counted *counts.Index) {
	p.Manifest.Phases = []recording.Phase{{Name: recording.PhaseCPU, Requests: n, Seconds: 10}}
	p.Manifest.Load = &recording.Load{Targets: []string{"GET http://127.0.0.1/"}}
	p.Inputs = &inputs.Counts{Units: float64(n), Requests: n, Targets: 60}
	p.Counts = counted
	p.Table.Totals.TotalSeconds, p.Table.Totals.AllocBytes = 4, 40_000_000
}

// saidOf returns what the rule says. The functions below the marked lines, by name, are in main and
// at these lines.
func saidOf(t *testing.T, p *rule.Pass, file string, own map[string]int) (text string) {
	t.Helper()
	for _, s := range p.Table.Sites {
		for _, r := range append(s.CPU, s.Allocs...) {
			for _, x := range r.Stack {
				if line := own[x.Function]; line > 0 {
					x.Owner, x.File, x.Line = gocode.Owner{Kind: gocode.Main, Package: "example.com/madeup"}, file, line
				}
			}
		}
	}
	for _, m := range matchesOf(t, repeatedwork.Rule(), p) {
		text += m.Cause + " " + m.Fix + "\n"
	}
	return text
}

const spreading = `package main

import (
	"path"
	"sync"
)

type group struct {
	number int
	labels []string
}

type gate struct {
	rules []string
	mu    sync.Mutex
	table map[int]bool
	other map[int]bool
}

func (g *gate) lets(of *group) bool {
	for _, r := range g.rules {
		for _, l := range of.labels {
			if ok, _ := path.Match(r, l); ok {
				return true
			}
		}
	}
	return false
}

func (g *gate) learn(of *group) {
	lets := g.lets(of) //@ learn | path.Match main.(*gate).lets
	g.mu.Lock()
	defer g.mu.Unlock()
	g.table[of.number] = lets
}

func main() {}
`

// TestRepeatedWorkStored: a table gets an entry again that it has.
func TestRepeatedWorkStored(t *testing.T) {
	const set = "g.table[of.number] = lets"
	fine := func(*rule.Pass, []inputs.Function) {}
	for _, c := range []struct {
		what, from, to string
		change         func(*rule.Pass, []inputs.Function)
		found          bool
	}{
		{"a field of a receiver", "", "", fine, true},
		{"a map of the package", "g.table[of.number] = lets", "table[of.number] = lets", fine, true},
		{"two tables", set, set + "; g.other[1] = true", fine, true},
		{"a map of the caller", set, "m := map[int]bool{}; m[of.number] = lets", fine, false},
		{"not stored", set, "_ = lets", fine, false},
		{"compared with the old one", set, "if g.table[of.number] != lets { " + set + " }", fine, false},
		{"changed before it is stored", set, "lets = lets && of.number > 3; " + set, fine, false},
		{"a receiver of each request", "", "", func(_ *rule.Pass, f []inputs.Function) { f[1].Stable = 60_000 }, false},
		{"inputs of each request", "", "", func(_ *rule.Pass, f []inputs.Function) { f[0].Stable, f[0].Identical = 2880, 2880 }, false},
		{"memory that changes", "", "", func(_ *rule.Pass, f []inputs.Function) { f[0].Identical = 9000 }, false},
		{"another result", "", "", func(_ *rule.Pass, f []inputs.Function) { f[0].Same -= 5000 }, false},
		{"a small share", "", "", func(p *rule.Pass, _ []inputs.Function) {
			p.Table.Totals.TotalSeconds, p.Table.Totals.AllocBytes = 100, 1e9
		}, false},
		{"it notes something", "return true", "g.rules = append(g.rules, l); return true", fine, false},
	} {
		source := strings.Replace(spreading, "func main() {}", "var table = map[int]bool{}\n\nfunc main() {}", 1)
		if c.from != "" {
			source = strings.Replace(source, c.from, c.to, 1)
		}
		p, names := ruletest.MadeUp(t, source)
		file := p.Table.Sites[0].File
		functions := []inputs.Function{{
			Name: "main.(*gate).lets", Package: "example.com/madeup", File: file, Line: 20, Calls: 96_000, Hashed: 96_000, Different: 1, Identical: 500,
			Stable: 480, InRequest: 96_000, PerRequest: 96_000, StablePerRequest: 96_000, Compared: 95_000, Same: 95_000, Targets: 60,
			Params: []inputs.Taken{inputs.ByAddress},
		}}
		functions = append(functions, functions[0])
		functions[1].Name, functions[1].Line, functions[1].Compared, functions[1].Same = "main.(*gate).learn", 31, 0, 0
		served(p, 2000, ran(names, 0))
		c.change(p, functions)
		p.Inputs.Functions = functions
		says := saidOf(t, p, file, map[string]int{functions[0].Name: 23})
		if strings.Contains(says, "has already") != c.found {
			t.Errorf("%s: %s", c.what, says)
		}
	}
}
