package copiedtodecode

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/codecs"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// lender is a group of functions that return memory which is valid for a while.
type lender struct {
	calls     []string // return it
	callbacks []string // pass it to a function that they get
	copiers   []string // return a copy
	fix       string
}

func lenders() []*lender {
	return []*lender{
		{
			calls:     []string{"(*go.etcd.io/bbolt.Bucket).Get", "(*go.etcd.io/bbolt.Cursor).*", "(*github.com/boltdb/bolt.Bucket).Get", "(*github.com/boltdb/bolt.Cursor).*"},
			callbacks: []string{"(*go.etcd.io/bbolt.Bucket).ForEach", "(*github.com/boltdb/bolt.Bucket).ForEach"},
			fix:       "Decode in the transaction, directly from the value: it is memory of the database, valid until the transaction ends.",
		},
		{
			callbacks: []string{"(*github.com/dgraph-io/badger*.Item).Value"},
			copiers:   []string{"(*github.com/dgraph-io/badger*.Item).ValueCopy"},
			fix:       "Decode in the function that Item.Value gets, directly from the value, which is valid until that function returns.",
		},
		{
			calls: []string{"(*github.com/cockroachdb/pebble*.DB).Get", "(*github.com/cockroachdb/pebble*.Iterator).Value*", "(github.com/syndtr/goleveldb/leveldb/iterator.Iterator).Value"},
			fix:   "Decode the value itself, before its closer is closed or the iterator moves.",
		},
		{
			calls: []string{"(*bufio.Scanner).Bytes", "(*bufio.Reader).ReadSlice", "(*bufio.Reader).ReadLine", "(*bufio.Reader).Peek"},
			fix:   "Decode the bytes themselves: they are valid until the next read.",
		},
	}
}

// lent is a copy of memory that is lent.
type lent struct {
	made   ast.Expr   // the copy
	to     *types.Var // that has it
	lender *lender
	what   string
}

// copyAt returns the copy of lent memory that the line of a place makes; nil for none.
func copyAt(at *gocode.Place) *lent {
	p := at.Outer()
	for _, call := range syntax.Calls(at) {
		l := &lent{made: call, to: syntax.LocalVar(p, syntax.AssignedTo(p, call))}
		name := p.CalleeName(call)
		var from ast.Expr
		switch {
		case name == "make" && l.to != nil:
			from = filledFrom(p, l.to)
		case funcname.Match(name, "bytes.Clone", "slices.Clone"):
			from = call.Args[0]
		case name == "append" && len(call.Args) == 2 && call.Ellipsis.IsValid() && syntax.EmptySlice(p, call.Args[0]):
			from = call.Args[1]
		default:
			for _, x := range lenders() {
				if len(call.Args) == 1 && funcname.Match(name, x.copiers...) && isNil(p, call.Args[0]) && l.to != nil {
					l.lender, l.what = x, "a value of the store"
					return l
				}
			}
		}
		if from == nil || l.to == nil && decoderOf(p, call) == "" {
			continue
		}
		if l.lender = lenderOf(p, from); l.lender != nil {
			l.what = syntax.Text(from)
			return l
		}
	}
	return nil
}

func isNil(p *gocode.Place, e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && p.Object(id) == types.Universe.Lookup("nil")
}

// filledFrom returns what a function copies into a new slice.
func filledFrom(p *gocode.Place, to *types.Var) (from ast.Expr) {
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && p.CalleeName(call) == "copy" && syntax.LocalVar(p, call.Args[0]) == to {
			from = call.Args[1]
		}
		return from == nil
	})
	return from
}

// lenderOf returns what lends the memory of an expression; nil for none.
func lenderOf(p *gocode.Place, e ast.Expr) *lender {
	if call, ok := syntax.Origin(p, e).(*ast.CallExpr); ok {
		return calledBy(p, call)
	}
	v := syntax.LocalVar(p, e)
	if v == nil {
		return nil
	}
	stmt, _ := syntax.Declared(p, v)
	if a, ok := stmt.(*ast.AssignStmt); ok && len(a.Rhs) == 1 { // k, v := cursor.First()
		if call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr); ok {
			return calledBy(p, call)
		}
	}
	lit, ok := syntax.FuncAround(p, e).(*ast.FuncLit)
	if !ok || !syntax.Inside(lit.Type, v.Pos()) {
		return nil
	}
	call, ok := syntax.Parent(p, lit).(*ast.CallExpr)
	if !ok {
		return nil
	}
	for _, l := range lenders() {
		if funcname.Match(p.CalleeName(call), l.callbacks...) {
			return l
		}
	}
	return nil
}

func calledBy(p *gocode.Place, call *ast.CallExpr) *lender {
	for _, l := range lenders() {
		if funcname.Match(p.CalleeName(call), l.calls...) {
			return l
		}
	}
	return nil
}

// use is what a function does with a copy.
type use struct {
	fine     bool // nothing but what follows
	decoder  string
	returned bool
}

// usesOf follows a copy in a function.
func usesOf(p *gocode.Place, l *lent) (u use) {
	if l.to == nil {
		return use{fine: true, decoder: decoderOf(p, l.made)}
	}
	if len(syntax.Assigned(p, l.to)) > 1 {
		return use{}
	}
	u = use{fine: true, returned: syntax.IsResult(p, l.to)}
	for _, id := range syntax.Reads(p, l.to) {
		switch n := syntax.Parent(p, id).(type) {
		case *ast.ReturnStmt:
			if syntax.FuncAround(p, n) != ast.Node(p.Decl) {
				return use{}
			}
			u.returned = true
		case *ast.BinaryExpr:
		case *ast.CallExpr:
			name := p.CalleeName(n)
			if name == "len" || name == "copy" && n.Args[0] == ast.Expr(id) {
				continue
			}
			by := decoderOf(p, id)
			if by == "" {
				return use{}
			}
			u.decoder = by
		default:
			return use{}
		}
	}
	return u
}

// decoderOf returns the function that decodes an expression, which is an argument of it or of the
// reader that a decoder gets; "" for none.
func decoderOf(p *gocode.Place, e ast.Expr) string {
	call, ok := syntax.Parent(p, e).(*ast.CallExpr)
	if !ok || ast.Unparen(call.Fun) == e {
		return ""
	}
	name := p.CalleeName(call)
	if funcname.Match(name, "bytes.NewReader", "bytes.NewBuffer") {
		with, ok := syntax.Parent(p, call).(*ast.CallExpr)
		if !ok {
			return ""
		}
		if fn := p.Callee(with); fn != nil && strings.HasPrefix(fn.Name(), "NewDecoder") {
			return syntax.Short(syntax.Text(with.Fun))
		}
		return ""
	}
	if funcname.Match(name, funcname.TypedAll(codecs.Decoders())...) {
		return syntax.Short(syntax.Text(call.Fun))
	}
	fn := p.Callee(call)
	if fn == nil {
		return ""
	}
	lower := strings.ToLower(fn.Name()) // as encoding.BinaryUnmarshaler and its like are named
	for _, verb := range []string{"unmarshal", "decode", "parse"} {
		if strings.HasPrefix(lower, verb) {
			return syntax.Short(syntax.Text(call.Fun))
		}
	}
	return ""
}
