package rules_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	repeatedwork "github.com/hone-go/hone/internal/diagnose/rules/repeated-work"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/recording"
)

const reading = `package main

import (
	"context"
	"database/sql"
	"net/http"
)

type user struct {
	id   int
	name string
}

type store struct{ db *sql.DB }

func (s *store) user(ctx context.Context, id int) (*user, error) {
	u := &user{}
	return u, s.db.QueryRowContext(ctx, "SELECT id, name FROM users WHERE id = ?", id).Scan(&u.id, &u.name)
}

func (s *store) touch(id int) {
	s.db.Exec("UPDATE users SET seen = 1 WHERE id = ?", id)
}

func guard(s *store, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u, err := s.user(r.Context(), 3) //@ guard | database/sql.(*DB).QueryRowContext main.(*store).user
		if err != nil || u.name == "" {
			return
		}
		next.ServeHTTP(w, r) //: next
	})
}

func page(s *store, w http.ResponseWriter, r *http.Request) {
	u, _ := s.user(r.Context(), 3) //@ page | database/sql.(*DB).QueryRowContext main.(*store).user < next
	w.Write([]byte(u.name))
}

func main() {}
`

// TestRepeatedWorkFetched: what a middleware read from a database is read again by the handler.
func TestRepeatedWorkFetched(t *testing.T) {
	inside := func(function string) func(*rule.Pass, *inputs.Function) {
		return func(p *rule.Pass, _ *inputs.Function) {
			for _, s := range p.Table.Sites {
				s.CPU[0].Stack[0].Function = function
			}
		}
	}
	fine := func(*rule.Pass, *inputs.Function) {}
	inOne := strings.Replace(reading, " < next", "", 1)
	asking := func(method string) string {
		return strings.Replace(reading, `	return u, s.db.QueryRowContext(ctx, "SELECT id, name FROM users WHERE id = ?", id).Scan(&u.id, &u.name)`,
			`	return u, ask(ctx, "`+method+`", u)`, 1) + `
func ask(ctx context.Context, method string, u *user) error {
	req, err := http.NewRequestWithContext(ctx, method, "http://users/", nil)
	if err != nil {
		return err
	}
	_, err = http.DefaultClient.Do(req)
	return err
}

func rename(ctx context.Context, u *user) error { return ask(ctx, "PUT", u) }
`
	}
	renames := func(p *rule.Pass, _ *inputs.Function) {
		inside("net/http.(*Client).Do")(p, nil)
		line := strings.Count(strings.Split(asking("GET"), "func rename")[0], "\n") + 1
		p.Counts = ran(map[int]string{line: "rename"}, 1)
	}
	for _, c := range []struct {
		what, source string
		change       func(*rule.Pass, *inputs.Function)
		where, says  string
	}{
		{"a middleware first", reading, fine, "page", "main.guard, which runs before this line, has read it already"},
		{"one after the other", inOne, fine, "user", "Call (*main.store).user once per request and hand all of its result on"},
		{"a prepared statement", reading, inside("database/sql.(*Stmt).QueryRowContext"), "page", "in the request's context"},
		{"a client of PostgreSQL", reading, inside("github.com/jackc/pgx/v5/pgxpool.(*Pool).QueryRow"), "page", "in the request's context"},
		{"another service", reading, inside("net/http.(*Client).Get"), "page", "in the request's context"},
		{"a request that reads", asking("GET"), inside("net/http.(*Client).Do"), "page", "in the request's context"},
		{"a request that another changes", asking("GET"), renames, "", ""},
		{"a request that writes", asking("PUT"), inside("net/http.(*Client).Do"), "", ""},
		{"a client that is always the same", reading, func(_ *rule.Pass, f *inputs.Function) { f.Params[1] = inputs.ByAddress }, "page", "in the request's context"},
		{"an object for each call", reading, func(_ *rule.Pass, f *inputs.Function) { f.Params[1], f.Identical = inputs.ByAddress, 2000 }, "", ""},
		{"other inputs in a request", reading, func(_ *rule.Pass, f *inputs.Function) { f.PerRequest, f.StablePerRequest = 2000, 2000 }, "", ""},
		{"another result", reading, func(_ *rule.Pass, f *inputs.Function) { f.Same -= 200 }, "", ""},
		{"results that were not compared", reading, func(_ *rule.Pass, f *inputs.Function) { f.Compared, f.Same = 0, 0 }, "", ""},
		{"no requests", reading, func(p *rule.Pass, f *inputs.Function) { p.Inputs.Requests, f.InRequest = 0, 0 }, "", ""},
		{"a transaction", reading, inside("database/sql.(*Tx).QueryRowContext"), "", ""},
		{"a statement that changes rows", reading, inside("database/sql.(*DB).ExecContext"), "", ""},
		{"a request that is not known to read only", reading, inside("net/http.(*Client).Do"), "", ""},
		{"rows that each request updates", reading, func(p *rule.Pass, _ *inputs.Function) {
			p.Counts = ran(map[int]string{22: "touch"}, 1)
		}, "", ""},
		{"a name that says that it changes something", strings.ReplaceAll(reading, "user(", "takeUser("), func(_ *rule.Pass, f *inputs.Function) { f.Name = "main.(*store).takeUser" }, "", ""},
	} {
		p, names, f := readTwice(t, c.source)
		c.change(p, &f)
		p.Inputs.Functions = []inputs.Function{f}
		where, text := said(t, p, names, f.Name)
		if where != c.where || !strings.Contains(text, c.says) {
			t.Errorf("%s: %q %s", c.what, where, text)
		}
	}
}

// readTwice makes up a recording of a function that each request calls twice with the same input.
func readTwice(t *testing.T, source string) (*rule.Pass, map[int]string, inputs.Function) {
	t.Helper()
	p, names := ruletest.MadeUp(t, source)
	names[18] = "user"
	p.Manifest.Phases = []recording.Phase{{Name: recording.PhaseCPU, Requests: 1000, Seconds: 10}}
	p.Manifest.Load = &recording.Load{Targets: []string{"GET http://127.0.0.1/"}}
	p.Inputs = &inputs.Counts{Units: 1000, Requests: 1000, Targets: 60}
	p.Counts = ran(names, 0)
	p.Table.Totals.TotalSeconds = 3
	return p, names, inputs.Function{
		Name: "main.(*store).user", Package: "example.com/madeup", File: p.Table.Sites[0].File, Line: 16, Calls: 2000, Hashed: 2000, Different: 60, Identical: 60,
		Stable: 60, InRequest: 2000, PerRequest: 1000, StablePerRequest: 1000, Compared: 1940, Same: 1940, Targets: 60,
		Params: []inputs.Taken{inputs.ByValue, inputs.ByValue},
	}
}

// said returns where repeated-work reports something, and its words. The functions above the leaf
// of each stack get these names, and are of the program.
func said(t *testing.T, p *rule.Pass, names map[int]string, functions ...string) (where, text string) {
	t.Helper()
	for _, s := range p.Table.Sites {
		for _, r := range append(s.CPU, s.Allocs...) {
			for i, name := range functions {
				called := r.Stack[1+i]
				called.Owner, called.File, called.Line, called.Function = gocode.Owner{Kind: gocode.Main, Package: "example.com/madeup"}, p.Table.Sites[0].File, 18, name
			}
		}
	}
	for _, m := range matchesOf(t, repeatedwork.Rule(), p) {
		where, text = where+names[m.Site.Line], text+m.Cause+" "+m.Fix
	}
	return where, text
}

// TestRepeatedWorkWhole: the function around several reads is called by a middleware and again by
// the handler.
func TestRepeatedWorkWhole(t *testing.T) {
	around := strings.NewReplacer("| database/sql.(*DB).QueryRowContext main.(*store).user", "| database/sql.(*DB).QueryRowContext main.(*store).user main.who").Replace(reading)
	for _, c := range []struct{ what, source, where, says string }{
		{"a middleware first", around, "page", "main.who does again what it did before in the same request. main.guard, which runs before this line, has called it already. Inside, (*main.store).user gets the same input again"},
		{"one after the other", strings.Replace(around, " < next", "", 1), "user", "Call (*main.store).user once per request and hand all of its result on"},
	} {
		p, names, f := readTwice(t, c.source)
		p.Inputs.Functions = []inputs.Function{f}
		where, text := said(t, p, names, f.Name, "main.who")
		if where != c.where || !strings.Contains(text, c.says) {
			t.Errorf("%s: %q %s", c.what, where, text)
		}
	}
}

// TestRepeatedWorkAssembled: objects that are built again of what the program keeps, and others
// that are built of what changes, that callers change, or that change what is kept.
func TestRepeatedWorkAssembled(t *testing.T) {
	r := repeatedwork.Rule()
	archive := filepath.Join(r.ID, "testdata", "built.txtar")
	ruletest.Compare(t, r, ruletest.RecordFor(t, r, archive), ruletest.Wanted(t, archive, r.ID))
}
