package rules_test

import (
	"go/ast"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	lastusedperrequest "github.com/hone-go/hone/internal/diagnose/rules/last-used-per-request"
	"github.com/hone-go/hone/internal/recording"
)

const usedHead = `import (
	"database/sql"
	"net/http"
	"time"
)

type desk struct{ db *sql.DB }

func (d *desk) with(fn func(db *sql.DB) error) error { return fn(d.db) }

func number(r *http.Request) int { return len(r.URL.Path) }

func seldom(r *http.Request) bool { return len(r.URL.Path)%100 == 0 }`

// someRequests counts 2,000 runs for 3,000 requests, and 100 of what runs seldom.
func someRequests(p *rule.Pass) {
	p.Manifest.Load = &recording.Load{}
	at := p.Table.Sites[0]
	place, _ := p.Syntax.At(at.File, at.Line)
	few := map[int]bool{}
	seldom := func(body *ast.BlockStmt) {
		for line := place.Fset.Position(body.Lbrace).Line + 1; line < place.Fset.Position(body.Rbrace).Line; line++ {
			few[line] = true
		}
	}
	ast.Inspect(place.File, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			if call, ok := n.Cond.(*ast.CallExpr); ok && call.Fun.(*ast.Ident).Name == "seldom" {
				seldom(n.Body)
			}
		case *ast.FuncDecl:
			if strings.HasPrefix(n.Name.Name, "touch") {
				seldom(n.Body)
			}
		}
		return true
	})
	p.Counts = ranIn(3000, 3000, func(line int) uint64 {
		if few[line] {
			return 100
		}
		return 2000
	})
}

// TestLastUsedPerRequestShapes: writes of a handler that gets two requests of three.
func TestLastUsedPerRequestShapes(t *testing.T) {
	const write = "\t_, err := d.db.Exec(\"UPDATE loan SET count = count + 1, last = ? WHERE part = ?\", at.Unix(), id) @"
	dropped := strings.Replace(write, "err :=", "_ =", 1)
	const taken = "func (d *desk) taken_N(id int, at time.Time) error {\n" + write + " < part_N < net/http.HandlerFunc.ServeHTTP\n\treturn err\n}"
	checkShapesIn(t, lastusedperrequest.Rule(), usedHead, "database/sql.(*DB).Exec", 0, []shape{
		{"func (d *desk) F(w http.ResponseWriter, r *http.Request) {\n\tif err := d.taken_N(number(r), time.Now()); err != nil { //: part_N\n\t\tw.WriteHeader(500)\n\t}\n}\n\n" + taken, "for each request that f0 handles"},
		{"func F(d *desk, id int, at time.Time) http.Handler {\n\treturn http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {\n\t" + write + "\n\t\tif err != nil {\n\t\t\tw.WriteHeader(500)\n\t\t}\n\t})\n}", "for each request that a function in f1 handles"},
		{"func (d *desk) F(w http.ResponseWriter, r *http.Request) {\n\tid, at := number(r), time.Now()\n\terr := d.with(func(db *sql.DB) error { //: part_N\n\t" + write + " < part_N\n\t\treturn err\n\t})\n\tif err != nil {\n\t\tw.WriteHeader(500)\n\t}\n}", "for each request that f2 handles"},
		// Few of the handler's requests write.
		{"func (d *desk) F(w http.ResponseWriter, r *http.Request) {\n\tif seldom(r) {\n\t\td.touch_N(number(r), time.Now()) //: part_N\n\t}\n}\n\n" + strings.Replace(taken, "taken", "touch", 1), ""},
		{"func (d *desk) F(w http.ResponseWriter, r *http.Request) {\n\tif seldom(r) {\n\t\td.touch_N(r, number(r), time.Now()) //: part_N\n\t}\n}\n\nfunc (d *desk) touch_N(r *http.Request, id int, at time.Time) {\n" + dropped + " < part_N\n}", ""},
		{"func (d *desk) F(w http.ResponseWriter, r *http.Request) {\n\tid, at := number(r), time.Now()\n\tif seldom(r) {\n\t" + dropped + "\n\t}\n}", ""},
		// A job, of which the number of requests says nothing.
		{"func F(d *desk, id int, at time.Time) error {\n" + write + "\n\treturn err\n}", ""},
	}, someRequests)
}
