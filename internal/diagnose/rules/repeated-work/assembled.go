package repeatedwork

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"iter"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// An access list, an index or a router is built for each request of what the program keeps, asked
// once and dropped. Objects cannot be compared like texts; but what they are built of can be
// followed: its fields, and how often code sets those.

const (
	// deepestBuilt is the number of nested calls that are followed.
	deepestBuilt = 6
	// mostBuilt is how many different inputs a function may get.
	mostBuilt = 64
)

// assembledAgain judges functions of the program that build an object, for few inputs and many
// different requests, of values that the program keeps and that hardly change. Their callers only
// read the object.
func (s *search) assembledAgain(in *inputs.Function) *found {
	c := s.costs[in.Name]
	if c == nil || c.Recursive || in.InRequest < leastCalls || in.Stopped || in.Compared > 0 || !in.ByValue() || !s.own(in) || s.pass.Counts == nil {
		return nil
	}
	targets := cmp.Or(in.Targets, s.pass.Inputs.Targets)
	if in.Identical != in.Stable || in.Stable == 0 || in.Stable > mostBuilt || targets < max(fewestTargets, perInput*in.Stable) || s.share(in.Name) < leastShare {
		return nil
	}
	place, ok := s.pass.Syntax.At(in.File, in.Line)
	if !ok || place.Decl == nil || place.Func != place.Decl || place.Decl.Body == nil || changes(in) || effects.ChangesReached(s.pass.Syntax, place) || !s.quiet(in.Name) {
		return nil
	}
	built := object(place)
	if built == "" || !s.onlyRead(in.Name) {
		return nil
	}
	of := &parts{pass: s.pass, seen: map[*ast.FuncDecl]bool{}, fine: true}
	of.read(place, place.Decl, deepestBuilt)
	calls := float64(in.Calls) / max(s.pass.Inputs.Units, 1)
	if !of.fine || len(of.fields) == 0 || of.changed() > seldomWritten*calls {
		return nil
	}
	return &found{
		Function: in, where: assembled, confidence: rule.Likely, repeats: 1 - float64(in.Stable)/float64(in.Calls), built: built, of: of.kept(),
		words: fmt.Sprintf("%s, for %s different requests", few(in, in.Stable), units.Count(targets)),
	}
}

// object returns the type of the object that a function returns, if its methods do not change it;
// "" for other results.
func object(p *gocode.Place) string {
	sig := syntax.SignatureOf(p)
	if sig == nil || sig.Results().Len() == 0 || makesWorker(sig) || takesFunction(sig) {
		return ""
	}
	ptr, ok := sig.Results().At(0).Type().Underlying().(*types.Pointer)
	if !ok {
		return ""
	}
	named, ok := types.Unalias(ptr.Elem()).(*types.Named)
	if !ok || named.Obj().Pkg() != p.Pkg || changesByMethods(p, named) {
		return ""
	}
	return named.Obj().Name()
}

// onlyRead reports whether all callers of a function that the profile shows only read its result,
// and drop it.
func (s *search) onlyRead(name string) bool {
	some := false
	for p, ok := range s.callers(name) {
		if !ok {
			continue
		}
		if !slices.ContainsFunc(syntax.CallsTo(p, name), func(call *ast.CallExpr) bool { return readHere(p, call) }) {
			return false
		}
		some = true
	}
	return some
}

// changedByCallers reports whether a caller of a function that the profile shows sets a field of
// its result.
func (s *search) changedByCallers(name string) bool {
	for p, ok := range s.callers(name) {
		if !ok {
			continue
		}
		set := func(call *ast.CallExpr) bool {
			v := syntax.Result(p, call)
			return v != nil && syntax.Local(p, v) && slices.ContainsFunc(syntax.Reads(p, v), func(id *ast.Ident) bool {
				sel, ok := syntax.Parent(p, id).(*ast.SelectorExpr)
				return ok && sel.X == ast.Expr(id) && syntax.Defines(p, sel)
			})
		}
		if slices.ContainsFunc(syntax.CallsTo(p, name), set) {
			return true
		}
	}
	return false
}

// callers returns the lines that call a function, as the profile shows. The second value is false
// if the source of a line is not known.
func (s *search) callers(name string) iter.Seq2[*gocode.Place, bool] {
	return func(yield func(*gocode.Place, bool) bool) {
		seen := map[gocode.Pos]bool{}
		for _, r := range s.costs[name].Rows {
			i := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return f.Function == name })
			if i < 0 || i+1 >= len(r.Stack) {
				continue
			}
			at := r.Stack[i+1]
			pos := gocode.Pos{File: at.File, Line: at.Line}
			if seen[pos] {
				continue
			}
			seen[pos] = true
			if !yield(s.pass.Syntax.At(at.File, at.Line)) {
				return
			}
		}
	}
}

// readHere reports whether the function around a call only selects fields and methods of its
// result, and sets none.
func readHere(p *gocode.Place, call *ast.CallExpr) bool {
	if sel, ok := syntax.Parent(p, call).(*ast.SelectorExpr); ok {
		return !syntax.Defines(p, sel)
	}
	v := syntax.Result(p, call)
	if v == nil || !syntax.Local(p, v) || syntax.IsResult(p, v) {
		return false
	}
	reads := syntax.Reads(p, v)
	for _, id := range reads {
		switch use := syntax.Parent(p, id).(type) {
		case *ast.SelectorExpr:
			if syntax.Defines(p, use) {
				return false
			}
		case *ast.BinaryExpr: // acl == nil
		default:
			return false
		}
	}
	return len(reads) > 0
}

// parts are the fields and package variables that a function reads, also through functions of
// the program.
type parts struct {
	pass   *rule.Pass
	seen   map[*ast.FuncDecl]bool
	fields []*types.Var
	made   []types.Type // of which the functions make objects of their own
	fine   bool         // all of the code is known
}

func (r *parts) read(p *gocode.Place, decl *ast.FuncDecl, depth int) {
	if r.seen[decl] || !r.fine {
		return
	}
	r.seen[decl] = true
	if depth == 0 {
		r.fine = false
		return
	}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if v, ok := p.Object(n).(*types.Var); ok && (v.IsField() || v.Pkg() != nil && v.Parent() == v.Pkg().Scope()) && !slices.Contains(r.fields, v) {
				r.fields = append(r.fields, v)
			}
		case *ast.CompositeLit:
			r.made = append(r.made, p.TypeOf(n))
		case *ast.CallExpr:
			r.call(p, n, depth)
		}
		return r.fine
	})
}

// call follows a call of a function of the program. Others only read what they get.
func (r *parts) call(p *gocode.Place, call *ast.CallExpr, depth int) {
	fn := p.Callee(call)
	if fn == nil {
		_, conversion := p.Conversion(call)
		_, lit := ast.Unparen(call.Fun).(*ast.FuncLit)
		id, _ := ast.Unparen(call.Fun).(*ast.Ident)
		_, builtin := p.Object(id).(*types.Builtin)
		r.fine = r.fine && (conversion || lit || id != nil && builtin)
		return
	}
	if in, ok := r.pass.Syntax.Declared(fn); ok && in.Decl != nil && in.Decl.Body != nil {
		r.read(in, in.Decl, depth-1)
	} else if to := fn.Signature().Recv(); to != nil && types.IsInterface(to.Type()) {
		r.fine = false
	}
}

// changed returns how often code outside of the functions sets what they read, or a part of it, for
// each unit of work.
func (r *parts) changed() (sum float64) {
	have, _ := r.pass.Syntax.Packages()
	for _, name := range have {
		p, ok := r.pass.Syntax.Package(name)
		if !ok {
			continue
		}
		count := func(e ast.Expr) {
			if r.is(p, e) {
				if at, ok := evidence.ExecutionsAt(r.pass, p, e.Pos()); ok {
					sum += at.PerUnit
				}
			}
		}
		for _, f := range p.Files() {
			for _, d := range f.Decls {
				decl, ok := d.(*ast.FuncDecl)
				if !ok || decl.Body == nil || r.seen[decl] {
					continue
				}
				ast.Inspect(decl.Body, func(n ast.Node) bool {
					switch n := n.(type) {
					case *ast.AssignStmt:
						for _, lhs := range n.Lhs {
							count(lhs)
						}
					case *ast.IncDecStmt:
						count(n.X)
					case *ast.UnaryExpr:
						if n.Op == token.AND {
							count(n.X)
						}
					case *ast.CallExpr:
						if name := p.CalleeName(n); len(n.Args) > 0 && (name == "delete" || name == "clear" || name == "copy") {
							count(n.Args[0])
						}
					}
					return true
				})
			}
		}
	}
	return sum
}

// is reports whether an expression is one of the fields or variables, or a part of one.
func (r *parts) is(p *gocode.Place, e ast.Expr) bool {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.SelectorExpr:
			if r.has(p.Object(x.Sel)) {
				return true
			}
			e = x.X
		case *ast.Ident:
			return r.has(p.Object(x))
		default:
			return false
		}
	}
}

func (r *parts) has(o types.Object) bool {
	v, ok := o.(*types.Var)
	return ok && v.Pkg() != nil && slices.ContainsFunc(r.fields, func(f *types.Var) bool {
		return f == v || f.IsField() == v.IsField() && f.Name() == v.Name() && f.Pkg().Path() == v.Pkg().Path() && (v.IsField() || v.Parent() == v.Pkg().Scope())
	})
}

// kept returns the names of a few of the lists and maps that are read, for a sentence.
func (r *parts) kept() (names []string) {
	const most = 3
	for _, f := range r.fields {
		switch f.Type().Underlying().(type) {
		case *types.Map, *types.Slice:
		default:
			continue
		}
		if len(names) < most && !r.own(f) && !slices.Contains(names, f.Name()) {
			names = append(names, f.Name())
		}
	}
	return names
}

// own reports whether a field is one of objects that the functions make themselves.
func (r *parts) own(field *types.Var) bool {
	return slices.ContainsFunc(r.made, func(t types.Type) bool {
		s, ok := t.Underlying().(*types.Struct)
		if !ok {
			return false
		}
		for f := range s.Fields() {
			if f == field {
				return true
			}
		}
		return false
	})
}

// describeAssembled fills in the words for an object that is built again.
func (f *found) describeAssembled(m *rule.Match, name string) {
	of := "what it is built of"
	if len(f.of) > 0 {
		of = "what it is built of (" + funcname.List(f.of) + ")"
	}
	m.Cause = fmt.Sprintf("%s builds the same %s again for each request: %s. The program changes %s less than once in %d of these calls, or never, and callers only read the result and drop it.",
		name, f.built, f.words, of, int(1/seldomWritten))
	m.Fix = fmt.Sprintf("Keep the finished %s by the input of %s, and drop it where the program changes that: or put a version into the key that each change increments. Nobody may change what is kept.", f.built, name)
}
