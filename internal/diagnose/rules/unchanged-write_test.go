package rules_test

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/covdata"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	unchangedwrite "github.com/hone-go/hone/internal/diagnose/rules/unchanged-write"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/recording"
)

const saving = `package main

import (
	"context"
	"database/sql"
)

type row struct{ name, value string }

type settings struct {
	db   *sql.DB
	save *sql.Stmt
	all  []*row
}

const upsert = "INSERT INTO setting (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"

func open(db *sql.DB) (*settings, error) {
	s := &settings{db: db}
	var err error
	s.save, err = db.Prepare(upsert)
	return s, err
}

func (s *settings) write(ctx context.Context, stmt *sql.Stmt, x *row) error {
	_, err := stmt.ExecContext(ctx, x.name, x.value) //@ write | database/sql.(*Stmt).ExecContext < persist < put
	return err
}

func (s *settings) persist(ctx context.Context, tx *sql.Tx) error {
	stmt := tx.StmtContext(ctx, s.save)
	for _, x := range s.all {
		if err := s.write(ctx, stmt, x); err != nil { //: persist
			return err
		}
	}
	return nil
}

func (s *settings) put(ctx context.Context, tx *sql.Tx, name, value string) error {
	return s.persist(ctx, tx) //: put
}

func fill(db *sql.DB) {
	text := "INSERT INTO setting VALUES "
	for range 9 {
		text += "('a', 1),"
	}
	db.Exec(text[:len(text)-1]) //: fill
}

func main() {}
`

// TestUnchangedWriteOfAll: a request that changes one element writes all of them, and the load
// cannot have named them.
func TestUnchangedWriteOfAll(t *testing.T) {
	fine := func(*rule.Pass, *inputs.Function) {}
	for _, c := range []struct {
		what, source string
		change       func(*rule.Pass, *inputs.Function)
		says         string
	}{
		{"a prepared statement of a transaction", saving, fine, "writes every element again, about 400, whatever it is about"},
		{"Stmt", strings.Replace(saving, "tx.StmtContext(ctx, s.save)", "tx.Stmt(s.save)", 1), fine, "every element again"},
		{"the statement itself", strings.Replace(saving, "tx.StmtContext(ctx, s.save)", "s.save", 1), fine, "every element again"},
		{"a text", strings.Replace(saving, "stmt.ExecContext(ctx, x.name", "s.db.ExecContext(ctx, upsert, x.name", 1), func(p *rule.Pass, f *inputs.Function) {
			f.Name, f.Params = "database/sql.(*DB).ExecContext", append(f.Params, inputs.ByValue)
			f.Sites[0].Again[3] = f.Sites[0].Again[2]
			p.Table.Sites[0].CPU[0].Stack[0].Function = f.Name
		}, "every element again"},
		{"a load without bodies", saving, func(p *rule.Pass, _ *inputs.Function) { p.Manifest.Load.Targets = []string{"GET http://127.0.0.1/"} }, "every element again"},
		{"requests that may name all", saving, func(p *rule.Pass, _ *inputs.Function) { p.RequestBytes = 900 }, ""},
		{"requests of unknown size", saving, func(p *rule.Pass, _ *inputs.Function) { p.RequestBytes = 0 }, ""},
		{"other elements for each request", saving, func(_ *rule.Pass, f *inputs.Function) { f.Different = 3000 }, ""},
		{"one request", saving, func(p *rule.Pass, f *inputs.Function) { f.Targets = 1 }, ""},
		{"a few elements", saving, func(p *rule.Pass, f *inputs.Function) {
			p.Counts, f.Different = ranEach(map[int]uint64{26: 200, 41: 25, 45: 0, 47: 0, 49: 0}), 8
		}, ""},
		{"values that change", saving, func(_ *rule.Pass, f *inputs.Function) { f.Sites[0].Again[2].Same = 1000 }, ""},
		{"another statement that writes there", strings.Replace(saving, "func main() {}", "func clear(db *sql.DB) string { return \"DELETE FROM setting\" }\nfunc main() {}", 1), fine, ""},
		{"a text that fill returns", strings.NewReplacer("func fill(db *sql.DB) {", "func fill(db *sql.DB) string {", "//: fill", "\n\treturn text").Replace(saving), fine, ""},
		{"fill in each request", saving, func(p *rule.Pass, _ *inputs.Function) {
			p.Counts = ranEach(map[int]uint64{26: 10_000, 41: 25, 45: 300, 47: 2700, 49: 300})
		}, ""},
	} {
		p, _ := ruletest.MadeUp(t, c.source)
		file := p.Table.Sites[0].File
		again := []inputs.Again{{Calls: 9000}, {}, {Calls: 8000, Same: 7990}, {Calls: 8500}}
		f := inputs.Function{
			Name: "database/sql.(*Stmt).ExecContext", Package: "database/sql", Calls: 9000, Hashed: 9000, Different: 410, InRequest: 9000, PerRequest: 9000, Targets: 8,
			Params: []inputs.Taken{inputs.ByValue, inputs.ByValue}, Sites: []inputs.Site{{File: file, Line: 26, Again: again}},
		}
		p.Manifest.Phases = []recording.Phase{{Name: recording.PhaseCPU, Requests: 1000, Seconds: 10}}
		p.Manifest.Load = &recording.Load{Targets: []string{"POST http://127.0.0.1/"}}
		p.RequestBytes = 80
		p.Counts = ranEach(map[int]uint64{26: 10_000, 33: 10_000, 41: 25, 45: 0, 47: 0, 49: 0})
		c.change(p, &f)
		p.Inputs = &inputs.Counts{Units: 1000, Requests: 1000, Targets: 8, Functions: []inputs.Function{f}}
		for _, r := range p.Table.Sites[0].CPU {
			for _, x := range r.Stack[1:] {
				x.Owner = gocode.Owner{Kind: gocode.Main, Package: "example.com/madeup"}
			}
		}
		text := ""
		for _, m := range matchesOf(t, unchangedwrite.Rule(), p) {
			text += m.Cause + " " + m.Fix
		}
		if c.says == "" && text != "" || !strings.Contains(text, c.says) || c.says != "" && text == "" {
			t.Errorf("%s: %s", c.what, text)
		}
	}
}

// ranEach returns counts of lines of a made-up program, in 100 requests.
func ranEach(lines map[int]uint64) *counts.Index {
	meta := &covdata.Meta{Packages: []covdata.Package{{Path: "example.com/madeup"}}}
	var ns [][]uint64
	for line, n := range lines {
		meta.Packages[0].Funcs = append(meta.Packages[0].Funcs, covdata.Func{
			File:   "example.com/madeup/main.go",
			Blocks: []covdata.Block{{StartLine: line, StartColumn: 1, EndLine: line, EndColumn: 80, Statements: 1}},
		})
		ns = append(ns, []uint64{n})
	}
	return counts.New(meta, []counts.Window{{Units: 100, Counts: covdata.Counts{ns}}})
}
