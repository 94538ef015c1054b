package storescan

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// stores are modules whose keys are in order, and how a program seeks one.
func stores() map[string]string {
	return map[string]string{
		"go.etcd.io/bbolt": "Cursor.Seek", "github.com/boltdb/bolt": "Cursor.Seek", "github.com/dgraph-io/badger": "IteratorOptions.Prefix and Seek",
		"github.com/syndtr/goleveldb": "NewIterator with util.BytesPrefix", "github.com/cockroachdb/pebble": "IterOptions with LowerBound and UpperBound",
		"github.com/tidwall/buntdb": "AscendGreaterOrEqual or AscendRange", "github.com/google/btree": "AscendGreaterOrEqual or AscendRange",
		"github.com/tidwall/btree": "Ascend with a pivot", "github.com/armon/go-radix": "WalkPrefix", "github.com/hashicorp/go-immutable-radix": "SeekPrefix",
		"github.com/linxGnu/grocksdb": "Iterator.Seek", "github.com/nutsdb/nutsdb": "PrefixScan", "go.mills.io/bitcask": "Scan",
	}
}

// storeOf returns how to seek in the store that a package belongs to; "" for other packages.
func storeOf(pkg *types.Package) string {
	if pkg == nil {
		return ""
	}
	for module, seek := range stores() {
		if rest, ok := strings.CutPrefix(pkg.Path(), module); ok && (rest == "" || rest[0] == '/') {
			return seek
		}
	}
	return ""
}

type search struct {
	pass  *rule.Pass
	lines *finder.Lines[scan]
	scans map[gocode.Pos]*scan // by the heads of the loops
}

// scan is a loop over the entries of a store, or a function that the store calls for each.
type scan struct {
	place           *gocode.Place
	head            int // line
	seek            string
	body            *ast.BlockStmt
	test            ast.Expr
	prefix, decodes bool
	visited, kept   float64 // entries each time, and the share that passes
	table           *table  // that it fills; nil if it tests the entries

	rows  []*site.Row
	spent map[gocode.Pos]int64
	most  gocode.Pos
}

// frame returns the frame of a row, nearest to the leaf, that is part of a scan; -1 for none.
func (s *search) frame(r *site.Row) int {
	for i, f := range r.Stack {
		if f.Owner.Kind == gocode.Main && s.lines.At(f) != nil {
			return i
		}
	}
	return -1
}

// look returns the scan that a line is part of; nil for none that visits many entries to keep few.
func (s *search) look(f *site.Frame, p *gocode.Place) *scan {
	if p.Decl == nil || p.Decl.Body == nil {
		return nil
	}
	line := p.Line
	p = p.Outer()
	var found *scan
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		if n == nil || found != nil || line < syntax.Line(p, n.Pos()) || line > syntax.Line(p, n.End()) {
			return false
		}
		c := scanAt(p, n)
		if c == nil {
			return true
		}
		head := gocode.Pos{File: f.File, Line: c.head}
		known, seen := s.scans[head]
		if !seen {
			if (s.counted(f, c, n) || s.tabled(f, c, n)) && c.head > 0 {
				known = c
			}
			s.scans[head] = known
		}
		found = known
		return true
	})
	return found
}

// scanAt returns what a node does if it goes through the entries of a store from the first one; nil
// for others.
func scanAt(p *gocode.Place, n ast.Node) *scan {
	switch n := n.(type) {
	case *ast.ForStmt:
		seek := stepped(p, n)
		if seek == "" || sought(p, n) {
			return nil
		}
		return &scan{place: p, head: syntax.Line(p, n.Pos()), seek: seek, body: n.Body, spent: map[gocode.Pos]int64{}}
	case *ast.CallExpr:
		fn := p.Callee(n)
		if fn == nil || len(n.Args) == 0 {
			return nil
		}
		lit, ok := ast.Unparen(n.Args[len(n.Args)-1]).(*ast.FuncLit)
		seek := storeOf(fn.Pkg())
		if ok && seek == "" && entries(p, lit) {
			seek = "Seek of its cursor"
		}
		if !ok || seek == "" || !walks(fn.Name()) {
			return nil
		}
		return &scan{place: p, head: syntax.Line(p, n.Pos()), seek: seek, body: lit.Body, spent: map[gocode.Pos]int64{}}
	}
	return nil
}

// entries reports whether a function gets the keys and values of a store, as bytes, from a function
// of the program that goes through them.
func entries(p *gocode.Place, lit *ast.FuncLit) bool {
	sig, ok := p.TypeOf(lit).(*types.Signature)
	if !ok || sig.Params().Len() != 2 {
		return false
	}
	for i := range 2 {
		list, ok := sig.Params().At(i).Type().Underlying().(*types.Slice)
		if !ok || !types.Identical(list.Elem().Underlying(), types.Typ[types.Byte]) {
			return false
		}
	}
	return true
}

// walks reports whether a method of that name visits all entries.
func walks(name string) bool {
	switch name {
	case "ForEach", "Each", "Ascend", "Descend", "Walk", "Scan", "Fold", "Reverse", "Iterate", "All", "forEach", "each", "walk", "scan", "iterate":
		return true
	}
	return false
}

// stepped returns how to seek in the store whose next entry a loop takes in each iteration.
func stepped(p *gocode.Place, loop *ast.ForStmt) (seek string) {
	for _, n := range []ast.Node{loop.Post, loop.Cond} {
		if n == nil {
			continue
		}
		ast.Inspect(n, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if fn := p.Callee(call); fn != nil && (fn.Name() == "Next" || fn.Name() == "Prev") {
					seek = storeOf(fn.Pkg())
				}
			}
			return seek == ""
		})
	}
	return seek
}

// sought reports whether a loop over a store does not start at the first entry, or goes through a
// part of it: its iterator was made for a prefix or a range, or is moved by Seek.
func sought(p *gocode.Place, loop *ast.ForStmt) bool {
	found := false
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			name := ""
			if fn := p.Callee(n); fn != nil {
				name = fn.Name()
			}
			found = found || strings.HasPrefix(name, "Seek") && name != "SeekToFirst" && name != "SeekToLast" || strings.HasPrefix(name, "ValidForPrefix") || strings.HasPrefix(name, "BytesPrefix")
		case *ast.SelectorExpr:
			found = found || n.Sel.Name == "Prefix" || n.Sel.Name == "LowerBound" || n.Sel.Name == "Range"
		case *ast.KeyValueExpr:
			id, ok := n.Key.(*ast.Ident)
			found = found || ok && (id.Name == "Prefix" || id.Name == "LowerBound" || id.Name == "Start")
		}
		return !found
	})
	return found
}

// counted fills in how many entries are visited and kept; false for a few, or if most are kept.
func (s *search) counted(f *site.Frame, c *scan, n ast.Node) bool {
	kept := c.tested()
	if kept == nil || len(c.body.List) == 0 {
		return false
	}
	visited, ok1 := evidence.ReachedAt(s.pass, c.place, c.body.List[0].Pos())
	passed, ok2 := evidence.ReachedAt(s.pass, c.place, kept.Pos())
	times, ok3 := s.times(f, c, n)
	if !ok1 || !ok2 || !ok3 || times <= 0 || visited <= 0 {
		return false
	}
	c.visited, c.kept = visited/times, passed/visited
	return s.often(times) && c.visited >= leastVisited && c.kept <= mostKept
}

// times returns how often a scan starts, for each unit of work.
func (s *search) times(f *site.Frame, c *scan, n ast.Node) (float64, bool) {
	if _, loop := n.(*ast.ForStmt); !loop {
		return evidence.ReachedAt(s.pass, c.place, n.Pos())
	}
	l, ok := s.pass.Counts.Loop(f.Owner.Package, f.File, c.head)
	return l.Entries, ok
}

// tested finds the test that leaves entries out, and returns the first statement for those that
// pass it; nil if there is none, or if it is one that no order helps.
func (c *scan) tested() (kept ast.Stmt) {
	for i, stmt := range c.body.List {
		s, ok := stmt.(*ast.IfStmt)
		if !ok {
			c.decodes = c.decodes || decodes(c.place, stmt)
			continue
		}
		if s.Init != nil {
			c.decodes = c.decodes || decodes(c.place, s.Init)
		}
		if fails(c.place, s.Cond) {
			continue
		}
		if s.Else != nil || !orders(c.place, s.Cond) {
			return nil
		}
		c.test, c.prefix = s.Cond, tests(c.place, s.Cond, "HasPrefix")
		if skips(s.Body) {
			if i+1 < len(c.body.List) {
				return c.body.List[i+1]
			}
			return nil
		}
		if len(s.Body.List) == 0 || i+1 < len(c.body.List) && !returnsOnly(c.body.List[i+1:]) {
			return nil
		}
		return s.Body.List[0]
	}
	return nil
}

// skips reports whether a block only goes on to the next entry.
func skips(body *ast.BlockStmt) bool {
	if len(body.List) != 1 {
		return false
	}
	switch s := body.List[0].(type) {
	case *ast.BranchStmt:
		return s.Tok == token.CONTINUE
	case *ast.ReturnStmt:
		return goesOn(s)
	}
	return false
}

// goesOn reports whether a statement returns nil or true, which asks for the next entry.
func goesOn(s *ast.ReturnStmt) bool {
	if len(s.Results) != 1 {
		return false
	}
	id, ok := ast.Unparen(s.Results[0]).(*ast.Ident)
	return ok && (id.Name == "nil" || id.Name == "true" || id.Name == "false")
}

func returnsOnly(list []ast.Stmt) bool {
	s, ok := list[0].(*ast.ReturnStmt)
	return len(list) == 1 && ok && goesOn(s)
}

// fails reports whether a condition asks for an error.
func fails(p *gocode.Place, cond ast.Expr) bool {
	b, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	return ok && b.Op == token.NEQ && p.TypeOf(b.X) != nil && syntax.IsError(p.TypeOf(b.X))
}

// tests reports whether a condition calls a function of that name.
func tests(p *gocode.Place, cond ast.Expr, name string) bool {
	found := false
	ast.Inspect(cond, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			fn := p.Callee(call)
			found = found || fn != nil && fn.Name() == name
		}
		return !found
	})
	return found
}

// orders reports whether an order of keys can find what passes a test: a comparison with a value
// from outside, not a search within a text, and not a state that all values may change.
func orders(p *gocode.Place, cond ast.Expr) bool {
	fine := true
	ast.Inspect(cond, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			name := ""
			if fn := p.Callee(n); fn != nil {
				name = fn.Name()
			}
			fine = fine && (name == "HasPrefix" || name == "Equal" || name == "Key" || name == "Compare" || name == "string" || name == "" || name == "Before" || name == "After" || name == "EqualFold")
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				_, x := p.Const(n.X)
				_, y := p.Const(n.Y)
				fine = fine && !x && !y && !isNil(n.X) && !isNil(n.Y)
			}
		case *ast.FuncLit:
			fine = false
		}
		return fine
	})
	_, alone := ast.Unparen(cond).(*ast.Ident)
	_, field := ast.Unparen(cond).(*ast.SelectorExpr)
	return fine && !alone && !field
}

func isNil(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && id.Name == "nil"
}

// decodes reports whether a statement decodes a value.
func decodes(p *gocode.Place, stmt ast.Stmt) bool {
	found := false
	ast.Inspect(stmt, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			fn := p.Callee(call)
			found = found || fn != nil && (strings.HasPrefix(fn.Name(), "Unmarshal") || strings.HasPrefix(strings.ToLower(fn.Name()), "decode"))
		}
		return !found
	})
	return found
}
