package jsonroundtrip

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// pair is a call that encodes a value and the call that decodes the text.
type pair struct{ out, in *ast.CallExpr }

// pairOf returns the pair that a call is part of, if the text has no other use:
//
//	text, err := Marshal(v) … Unmarshal(text, &w)
//	NewEncoder(&text).Encode(v) … NewDecoder(&text).Decode(&w)
//
// also mixed, with a function of the package that only encodes, and without a variable.
func pairOf(p *gocode.Place, call *ast.CallExpr) (pair, bool) {
	if p.Func == nil || loops.Guarded(p, call) {
		return pair{}, false
	}
	for _, v := range texts(p) {
		t := text{place: p, seen: map[*types.Var]bool{}, levels: mostHelpers}
		t.variable(v)
		if len(t.outs) != 1 || len(t.ins) != 1 || t.other || t.outs[0].End() > t.ins[0].Pos() {
			continue
		}
		found := pair{t.outs[0], t.ins[0]}
		if out := codec(p, found.out); out != nil && out == t.by(found.in) && (call == found.out || call == found.in) {
			return found, true
		}
	}
	if named(p, call, "Unmarshal") { // Unmarshal(encoded(v), &w)
		out, ok := ast.Unparen(call.Args[0]).(*ast.CallExpr)
		if ok && codec(p, out) != nil && codec(p, out) == codec(p, call) {
			return pair{out, call}, true
		}
	}
	return pair{}, false
}

// texts returns the variables of the function that hold text: slices of bytes and buffers.
func texts(p *gocode.Place) (all []*types.Var) {
	seen := map[*types.Var]bool{}
	ast.Inspect(p.Func, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		v, ok := p.Info.Defs[id].(*types.Var)
		if ok && !v.IsField() && !seen[v] && !syntax.Param(p, v) && (isBuffer(v.Type()) || isBytes(v.Type())) {
			seen[v] = true
			all = append(all, v)
		}
		return true
	})
	return all
}

func isBuffer(t types.Type) bool {
	return strings.TrimPrefix(types.TypeString(t, nil), "*") == "bytes.Buffer"
}

func isBytes(t types.Type) bool {
	s, ok := t.Underlying().(*types.Slice)
	return ok && types.Identical(s.Elem(), types.Typ[types.Byte])
}

// text examines the uses of a variable that holds text, and of readers of it.
type text struct {
	place     *gocode.Place
	seen      map[*types.Var]bool
	outs, ins []*ast.CallExpr // calls that encode into it, and decode it
	other     bool            // it has another use
	// helpers are the packages with which functions of the package decode the text, for ins.
	helpers map[*ast.CallExpr]*types.Package
	levels  int // of such functions
}

// by returns the package whose format one of ins reads.
func (t *text) by(in *ast.CallExpr) *types.Package {
	if pkg := t.helpers[in]; pkg != nil {
		return pkg
	}
	return codec(t.place, in)
}

func (t *text) variable(v *types.Var) {
	if v == nil || t.seen[v] || syntax.IsResult(t.place, v) {
		t.other = t.other || v == nil || !t.seen[v]
		return
	}
	t.seen[v] = true
	for _, id := range syntax.Uses(t.place, v) {
		t.other = t.other || !t.use(id)
	}
}

// use examines one use, and reports whether it is known.
func (t *text) use(e ast.Expr) bool {
	p := t.place
	for {
		switch n := syntax.Parent(p, e).(type) {
		case *ast.UnaryExpr:
			if n.Op != token.AND {
				return false
			}
			e = n
		case *ast.ValueSpec:
			return t.defined(e, n.Values)
		case *ast.Field: // the parameter of a function that decodes
			return true
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				if ast.Unparen(lhs) == e {
					return t.defined(e, n.Rhs)
				}
			}
			to := syntax.LocalVar(p, syntax.AssignedTo(p, e)) // a reader, or the bytes of the buffer
			if to == nil {
				return false
			}
			t.variable(to)
			return true
		case *ast.SelectorExpr:
			call, ok := syntax.Parent(p, n).(*ast.CallExpr)
			if !ok || ast.Unparen(call.Fun) != n {
				return false
			}
			switch n.Sel.Name {
			case "Reset", "Grow":
				return true
			case "Bytes", "String":
				e = call
			default:
				return false
			}
		case *ast.CallExpr:
			switch name := p.CalleeName(n); {
			case funcname.Match(name, "bytes.NewReader", "bytes.NewBuffer", "bytes.NewBufferString", "strings.NewReader"):
				e = n
			case name == "(*sync.Pool).Put":
				return true
			case named(p, n, "Unmarshal") && len(n.Args) == 2 && ast.Unparen(n.Args[0]) == e:
				t.ins = append(t.ins, n)
				return true
			case named(p, n, "NewEncoder"):
				return t.stream(n, "Encode", &t.outs)
			case named(p, n, "NewDecoder"):
				return t.stream(n, "Decode", &t.ins)
			default:
				if _, conversion := p.Conversion(n); !conversion {
					return t.helper(n, e)
				}
				e = n
			}
		default:
			return false
		}
	}
}

// helper reports whether a call decodes the text that it gets, and keeps it.
func (t *text) helper(call *ast.CallExpr, e ast.Expr) bool {
	pkg := decodes(t.place, call, e, t.levels)
	if pkg == nil {
		return false
	}
	if t.helpers == nil {
		t.helpers = map[*ast.CallExpr]*types.Package{}
	}
	t.helpers[call] = pkg
	t.ins = append(t.ins, call)
	return true
}

// defined examines what a variable of text gets: nothing, an empty buffer or the result of
// encoding.
func (t *text) defined(e ast.Expr, values []ast.Expr) bool {
	if len(values) != 1 {
		return len(values) == 0
	}
	call, ok := ast.Unparen(values[0]).(*ast.CallExpr)
	if ok && codec(t.place, call) != nil && !named(t.place, call, "Unmarshal") {
		t.outs = append(t.outs, call)
		return true
	}
	switch x := ast.Unparen(values[0]).(type) {
	case *ast.CompositeLit:
		return len(x.Elts) == 0
	case *ast.UnaryExpr:
		lit, ok := x.X.(*ast.CompositeLit)
		return ok && len(lit.Elts) == 0
	}
	// A reader or the bytes of the text itself, or a buffer that was empty or is reset.
	v := syntax.LocalVar(t.place, e)
	return v != nil && (t.seen[v] && len(t.seen) > 1 || isBuffer(v.Type()))
}

// stream examines the one call of a method of an encoder or decoder that a call creates.
func (t *text) stream(made *ast.CallExpr, method string, calls *[]*ast.CallExpr) bool {
	p := t.place
	if sel, ok := syntax.Parent(p, made).(*ast.SelectorExpr); ok {
		call, ok := syntax.Parent(p, sel).(*ast.CallExpr)
		if !ok || sel.Sel.Name != method {
			return false
		}
		*calls = append(*calls, call)
		return true
	}
	v := syntax.LocalVar(p, syntax.AssignedTo(p, made))
	if v == nil {
		return false
	}
	for _, id := range syntax.Reads(p, v) {
		if option, ok := syntax.Parent(p, id).(*ast.CallExpr); ok && syntax.LocalVar(p, syntax.AssignedTo(p, option)) == v {
			continue // d = option(d)
		}
		sel, ok := syntax.Parent(p, id).(*ast.SelectorExpr)
		if !ok {
			return false
		}
		call, ok := syntax.Parent(p, sel).(*ast.CallExpr)
		switch {
		case ok && sel.Sel.Name == method:
			*calls = append(*calls, call)
		case !ok || !funcname.Match(sel.Sel.Name, "Set*", "UseNumber", "DisallowUnknownFields"):
			return false
		}
	}
	return true
}

func named(p *gocode.Place, call *ast.CallExpr, name string) bool {
	fn := p.Callee(call)
	if fn == nil || fn.Signature().Recv() != nil && !settings(fn) {
		return false
	}
	return (fn.Name() == name || name == "Marshal" && fn.Name() == "MarshalIndent") && len(call.Args) > 0
}

// settings reports whether a function is a method of the interface that a package has for its
// codecs with other settings: jsoniter.API, sonic.API.
func settings(fn *types.Func) bool {
	return funcname.Match(fn.FullName(), "(github.com/json-iterator/go.API).*", "(github.com/bytedance/sonic.API).*")
}

// codec returns the package whose format a call writes or reads: the same package has to read the
// text. It is nil for a call that does neither, or more.
func codec(p *gocode.Place, call *ast.CallExpr) *types.Package {
	fn := p.Callee(call)
	if fn == nil {
		return nil
	}
	if decl := p.Declaration(fn); decl != nil && decl.Body != nil {
		if by := encodes(p.Entry(decl)); by != nil {
			return by
		}
		return returnsText(p.Entry(decl), mostHelpers)
	}
	if named(p, call, "Marshal") || named(p, call, "Unmarshal") || fn.Signature().Recv() != nil && (fn.Name() == "Encode" || fn.Name() == "Decode") {
		return fn.Pkg()
	}
	return nil
}

// encodes returns the package with which a function encodes what it gets, if it does nothing else;
// nil otherwise.
func encodes(p *gocode.Place) *types.Package {
	var by *types.Package
	calls, plain := 0, true
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if _, conversion := p.Conversion(n); conversion {
				return true
			}
			if calls++; named(p, n, "Marshal") {
				by = p.Callee(n).Pkg()
				return true
			}
			name := p.CalleeName(n)
			plain = plain && (name == "panic" || funcname.Match(name, "fmt.Errorf", "log.Fatal*", "log.Panic*"))
		case *ast.ForStmt, *ast.RangeStmt, *ast.GoStmt, *ast.FuncLit, *ast.SendStmt:
			plain = false
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				id, ok := lhs.(*ast.Ident)
				plain = plain && ok && (id.Name == "_" || p.Info.Defs[id] != nil || syntax.LocalVar(p, id) != nil)
			}
		}
		return plain
	})
	if !plain || calls == 0 {
		return nil
	}
	return by
}
