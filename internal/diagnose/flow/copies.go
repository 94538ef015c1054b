package flow

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// CopiedStruct returns the struct that values of a type are or consist of: without pointers,
// slices and maps; nil for others, and for a struct that guards itself or changes atomically.
func CopiedStruct(t types.Type) types.Type {
	for t != nil {
		switch u := t.Underlying().(type) {
		case *types.Pointer:
			t = u.Elem()
		case *types.Slice:
			t = u.Elem()
		case *types.Map:
			t = u.Elem()
		case *types.Struct:
			if guarded(u) {
				return nil
			}
			return t
		default:
			return nil
		}
	}
	return nil
}

// guarded reports whether a struct has a lock or an atomic value.
func guarded(s *types.Struct) bool {
	for f := range s.Fields() {
		if name := f.Type().String(); strings.HasPrefix(name, "sync.") || strings.HasPrefix(name, "sync/atomic.") {
			return true
		}
	}
	return false
}

// Copies recognizes functions of the program that return deep copies.
type Copies struct {
	syntax    *gocode.Syntax
	originals map[*ast.FuncDecl]*types.Var // what functions return deep copies of; nil for others
	flats     map[*ast.FuncDecl]bool       // functions that return copies of lists of other things
}

// NewCopies returns an empty Copies.
func NewCopies(s *gocode.Syntax) *Copies {
	return &Copies{syntax: s, originals: map[*ast.FuncDecl]*types.Var{}, flats: map[*ast.FuncDecl]bool{}}
}

// Calls reports whether a call is of a function that returns a deep copy.
func (s *Copies) Calls(p *gocode.Place, call *ast.CallExpr) bool {
	in, ok := s.syntax.Declared(p.Callee(call))
	return ok && s.Original(in) != nil
}

// Original returns the receiver or the only parameter of the function around a place, if it returns
// a deep copy of it; nil for other functions.
func (s *Copies) Original(p *gocode.Place) *types.Var {
	if p.Decl == nil || p.Decl.Body == nil || p.Func != ast.Node(p.Decl) {
		return nil
	}
	if v, seen := s.originals[p.Decl]; seen {
		return v
	}
	s.originals[p.Decl] = nil // of one that calls itself: it is not the reason
	v := source(p)
	if v == nil || !s.copies(p, v) {
		return nil
	}
	s.originals[p.Decl] = v
	return v
}

// source returns the variable of a function that its first result may be a copy of, by the types.
func source(p *gocode.Place) *types.Var {
	fn, ok := p.Object(p.Decl.Name).(*types.Func)
	if !ok || fn.Signature().Results().Len() == 0 {
		return nil
	}
	sig := fn.Signature()
	v := sig.Recv()
	switch {
	case v == nil && sig.Params().Len() == 1:
		v = sig.Params().At(0)
	case v == nil || sig.Params().Len() > 0:
		return nil
	}
	of := CopiedStruct(v.Type())
	if of == nil || !types.Identical(of, CopiedStruct(sig.Results().At(0).Type())) {
		return nil
	}
	return v
}

// copies reports whether the body of a function does nothing but copy a value: it moves parts of
// it, allocates, and calls functions that copy.
func (s *Copies) copies(p *gocode.Place, from *types.Var) bool {
	fine, creates := true, false
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.GoStmt, *ast.SendStmt, *ast.SwitchStmt:
			fine = false
		case *ast.IfStmt:
			return fine && s.moved(p, n.Body, from, &fine, &creates)
		case *ast.BinaryExpr:
			fine = false
		case *ast.BasicLit:
			fine = fine && sizeOrIndex(p, n)
		case *ast.AssignStmt:
			fine = fine && (n.Tok == token.ASSIGN || n.Tok == token.DEFINE)
		case *ast.CompositeLit:
			creates = creates || CopiedStruct(p.TypeOf(n)) != nil
		case *ast.StarExpr:
			creates = creates || p.TypeOf(n) != nil && CopiedStruct(p.TypeOf(n)) != nil
		case *ast.CallExpr:
			fine = fine && s.copier(p, n)
			creates = creates || p.CalleeName(n) == "make"
		case *ast.Ident:
			if v, ok := p.Object(n).(*types.Var); ok && !v.IsField() && v.Parent() == p.Pkg.Scope() {
				fine = false
			}
		case *ast.ForStmt:
			return false // an index that is counted
		}
		return fine
	})
	return fine && creates
}

// moved is copies for the body of an if, without its condition.
func (s *Copies) moved(p *gocode.Place, body *ast.BlockStmt, from *types.Var, fine, creates *bool) bool {
	ast.Inspect(body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			*fine = *fine && s.copier(p, call)
			*creates = *creates || p.CalleeName(call) == "make"
		}
		return *fine
	})
	return false
}

// sizeOrIndex reports whether a literal is an argument of make, or an index.
func sizeOrIndex(p *gocode.Place, lit *ast.BasicLit) bool {
	switch n := syntax.Parent(p, lit).(type) {
	case *ast.CallExpr:
		return p.CalleeName(n) == "make"
	case *ast.IndexExpr, *ast.SliceExpr:
		return true
	}
	return false
}

// copier reports whether a call only allocates or copies.
func (s *Copies) copier(p *gocode.Place, call *ast.CallExpr) bool {
	if _, conversion := p.Conversion(call); conversion {
		return true
	}
	name := p.CalleeName(call)
	switch name {
	case "make", "new", "append", "copy", "len", "cap", "min", "maps.Clone", "maps.Copy", "slices.Clone", "slices.Clip", "slices.Grow", "bytes.Clone", "strings.Clone":
		return true
	case "":
		return false
	}
	if strings.HasPrefix(name, "(*sync.") || Clones(name) {
		return true
	}
	decl, ok := s.syntax.Declared(p.Callee(call))
	return ok && (s.Original(decl) != nil || s.flat(decl))
}

// flat reports whether a function copies a list or a map of something other than structs.
func (s *Copies) flat(p *gocode.Place) bool {
	fn, ok := p.Object(p.Decl.Name).(*types.Func)
	if !ok || fn.Signature().Params().Len() != 1 || fn.Signature().Results().Len() != 1 {
		return false
	}
	in := fn.Signature().Params().At(0)
	if known, seen := s.flats[p.Decl]; seen {
		return known
	}
	if !types.Identical(in.Type(), fn.Signature().Results().At(0).Type()) {
		return false
	}
	s.flats[p.Decl] = false
	s.flats[p.Decl] = s.copies(p, in)
	return s.flats[p.Decl]
}

// Clones reports whether a function is called as functions are that make deep copies, by its name
// in a profile or the type checker's.
func Clones(function string) bool {
	name, _, _ := strings.Cut(function[strings.LastIndexByte(function, '/')+1:], "[")
	switch name[strings.LastIndexByte(name, '.')+1:] {
	case "Clone", "CloneOf", "CloneVT", "CloneMessageVT", "DeepCopy", "DeepCopyObject", "DeepClone":
		return true
	}
	return funcname.Match(function, reflecting.returns...)
}

// Inline is a deep copy that a function makes without calling another one for it.
type Inline struct {
	From ast.Expr   // what is copied
	Var  *types.Var // the variable that has the copy; nil for a literal
	Lit  *ast.CompositeLit
	// Parts are the statements that copy parts of the value.
	Parts []ast.Node
}

// Inline returns the deep copy that the line of a place is a part of:
//
//	c := *v
//	c.Tags = maps.Clone(v.Tags)
//
// or T{Name: v.Name, Tags: maps.Clone(v.Tags)}; nil for none.
func (s *Copies) Inline(p *gocode.Place) (found *Inline) {
	if p.Decl == nil || p.Decl.Body == nil {
		return nil
	}
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		if found != nil || n == nil {
			return false
		}
		switch n := n.(type) {
		case *ast.BlockStmt:
			found = s.inBlock(p, n.List)
		case *ast.CaseClause:
			found = s.inBlock(p, n.Body)
		case *ast.CompositeLit:
			found = s.literal(p, n)
		}
		return found == nil
	})
	return found
}

// inBlock returns the copy that statements of a block make, if the line is one of them.
func (s *Copies) inBlock(p *gocode.Place, list []ast.Stmt) *Inline {
	for i, stmt := range list {
		a, ok := stmt.(*ast.AssignStmt)
		if !ok || a.Tok != token.DEFINE || len(a.Lhs) != 1 || len(a.Rhs) != 1 || !shallow(p, a.Rhs[0]) {
			continue
		}
		v := syntax.LocalVar(p, a.Lhs[0])
		found := &Inline{From: a.Rhs[0], Var: v, Parts: []ast.Node{a}}
		if star, ok := ast.Unparen(a.Rhs[0]).(*ast.StarExpr); ok {
			found.From = star.X
		}
		near := onLine(p, a)
		for _, next := range list[i+1:] {
			if !s.part(p, next, v) {
				break
			}
			near = near || onLine(p, next)
			found.Parts = append(found.Parts, next)
		}
		if v != nil && near && len(found.Parts) > 1 {
			return found
		}
	}
	return nil
}

// shallow reports whether an expression copies a struct that is stored elsewhere.
func shallow(p *gocode.Place, e ast.Expr) bool {
	if t := p.TypeOf(e); t == nil || CopiedStruct(t) == nil || !types.Identical(t, CopiedStruct(t)) {
		return false
	}
	switch ast.Unparen(e).(type) {
	case *ast.StarExpr, *ast.Ident, *ast.SelectorExpr, *ast.IndexExpr:
		return true
	}
	return false
}

// part reports whether a statement sets a field of a variable to a copy of something.
func (s *Copies) part(p *gocode.Place, stmt ast.Stmt, v *types.Var) bool {
	a, ok := stmt.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || a.Tok != token.ASSIGN {
		return false
	}
	root, field := syntax.Var(p, a.Lhs[0])
	call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
	return ok && root == v && field && s.copier(p, call) && p.CalleeName(call) != "make"
}

// literal returns the copy that a literal makes: each of its fields is the same field of one value,
// or a copy of it.
func (s *Copies) literal(p *gocode.Place, lit *ast.CompositeLit) *Inline {
	if !onLine(p, lit) || len(lit.Elts) < 2 || CopiedStruct(p.TypeOf(lit)) == nil {
		return nil
	}
	found := &Inline{Lit: lit}
	copied := false
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return nil
		}
		value := ast.Unparen(kv.Value)
		if call, ok := value.(*ast.CallExpr); ok {
			if !s.copier(p, call) || len(call.Args) == 0 {
				return nil
			}
			value, copied = ast.Unparen(call.Args[len(call.Args)-1]), true
		}
		sel, ok := value.(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != syntax.Text(kv.Key) || !types.Identical(CopiedStruct(p.TypeOf(sel.X)), CopiedStruct(p.TypeOf(lit))) {
			return nil
		}
		if found.From != nil && !syntax.Same(p, found.From, sel.X) {
			return nil
		}
		found.From = sel.X
	}
	if !copied {
		return nil
	}
	return found
}

func onLine(p *gocode.Place, n ast.Node) bool {
	return syntax.Line(p, n.Pos()) <= p.Line && p.Line <= syntax.Line(p, n.End())
}
