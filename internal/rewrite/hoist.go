package rewrite

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"strings"
	"text/template"
)

// constructor is a function whose result for constant arguments can be created once and shared.
type constructor struct {
	suffix string // of the variable's name
	// valid reports whether the constant arguments make a value; a call that panics must still
	// panic where it is.
	valid func(args []string) bool
	// reads are the methods that do not change the value, for all goroutines; nil: the value cannot
	// be changed at all.
	reads []string
}

func constructors() map[string]constructor {
	even := func(args []string) bool { return len(args)%2 == 0 }
	pattern := func(args []string) bool {
		_, err := regexp.Compile(args[0])
		return err == nil
	}
	any := func([]string) bool { return true }
	// Longest changes a Regexp, so it is not in the list.
	reads := []string{
		"Expand", "ExpandString", "Find", "FindAll", "FindAllIndex", "FindAllString", "FindAllStringIndex", "FindAllStringSubmatch", "FindAllStringSubmatchIndex",
		"FindAllSubmatch", "FindAllSubmatchIndex", "FindIndex", "FindReaderIndex", "FindReaderSubmatchIndex", "FindString", "FindStringIndex", "FindStringSubmatch",
		"FindStringSubmatchIndex", "FindSubmatch", "FindSubmatchIndex", "LiteralPrefix", "Match", "MatchReader", "MatchString", "NumSubexp", "ReplaceAll",
		"ReplaceAllFunc", "ReplaceAllLiteral", "ReplaceAllLiteralString", "ReplaceAllString", "ReplaceAllStringFunc", "Split", "String", "SubexpIndex",
	}
	return map[string]constructor{
		"strings.NewReplacer":  {"Replacer", even, []string{"Replace", "WriteString"}},
		"regexp.MustCompile":   {"Pattern", pattern, reads},
		"text/template.Must":   {"Template", nil, []string{"Execute", "ExecuteTemplate"}},
		"html/template.Must":   {"Template", nil, []string{"Execute", "ExecuteTemplate"}},
		"crypto/sha256.Sum256": {"Sum", any, nil},
		"crypto/sha512.Sum512": {"Sum", any, nil},
		"strings.ToLower":      {"Text", any, nil},
		"strings.ToUpper":      {"Text", any, nil},
		"strings.Repeat":       {"Text", nil, nil},
	}
}

var (
	errNotConstant = errors.New("an argument is not constant")
	errLocalName   = errors.New("an argument uses a name of the function")
	errInvalid     = errors.New("the arguments may make it panic, and then it would at another time")
	errUsed        = errors.New("the value is used in a way that might change it, or leaves the function")
)

// hoistCall creates a value of constant arguments once, in a variable of the package.
func hoistCall(s *site, n ast.Node) (*proposal, error) {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return nil, nil
	}
	c, ok := constructors()[s.callee(call)]
	if !ok || call.Ellipsis.IsValid() {
		return nil, nil
	}
	if c.suffix == "Template" {
		if err := s.constantTemplate(call); err != nil {
			return nil, err
		}
	} else {
		args, err := s.constantStrings(call.Args)
		if err != nil {
			return nil, err
		}
		if c.valid == nil || !c.valid(args) {
			return nil, errInvalid
		}
	}
	if err := s.global(call); err != nil {
		return nil, err
	}
	if c.reads != nil && !s.onlyRead(call, c.reads) {
		return nil, errUsed
	}
	return s.hoist(call, c.suffix, "its arguments are constant, and nothing changes the value"), nil
}

// constantStrings returns the values of constant arguments; []byte("…") is one.
func (s *site) constantStrings(args []ast.Expr) (out []string, err error) {
	for _, a := range args {
		if conv, ok := a.(*ast.CallExpr); ok && len(conv.Args) == 1 && s.pkg.TypesInfo.Types[conv.Fun].IsType() {
			a = conv.Args[0]
		}
		v := s.pkg.TypesInfo.Types[a].Value
		if v == nil || v.Kind() != constant.String {
			return nil, errNotConstant
		}
		out = append(out, constant.StringVal(v))
	}
	return out, nil
}

// constantTemplate checks that a call is template.Must(template.New("…").Parse("…")).
func (s *site) constantTemplate(must *ast.CallExpr) error {
	if len(must.Args) != 1 {
		return errNotConstant
	}
	parse, ok := must.Args[0].(*ast.CallExpr)
	if !ok || !strings.HasSuffix(s.callee(parse), "/template.Template).Parse") {
		return errNotConstant
	}
	made, ok := parse.Fun.(*ast.SelectorExpr).X.(*ast.CallExpr)
	if !ok || !strings.HasSuffix(s.callee(made), "/template.New") {
		return errNotConstant
	}
	args, err := s.constantStrings([]ast.Expr{made.Args[0], parse.Args[0]})
	if err != nil {
		return err
	}
	if _, err := template.New(args[0]).Parse(args[1]); err != nil {
		return errInvalid
	}
	return nil
}

// global reports an error unless all names in an expression mean the same outside of the function.
func (s *site) global(e ast.Expr) error {
	var err error
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		switch obj := s.pkg.TypesInfo.Uses[id].(type) {
		case nil, *types.PkgName, *types.Nil:
		case *types.Var:
			if !obj.IsField() && obj.Parent() != s.pkg.Types.Scope() {
				err = errLocalName
			}
		default:
			if p := obj.Parent(); p != nil && p != types.Universe && obj.Pkg() == s.pkg.Types && p != s.pkg.Types.Scope() {
				err = errLocalName
			}
		}
		return true
	})
	return err
}

// onlyRead reports whether a value, or the variable that it is assigned to, is used only for calls
// of these methods.
func (s *site) onlyRead(value ast.Expr, methods []string) bool {
	if s.readHere(s.path, methods) {
		return true
	}
	return s.assignedAndRead(func(path []ast.Node) bool { return s.readHere(path, methods) })
}

// readHere reports whether the last node of a path is the receiver of a call of a method in the
// list.
func (s *site) readHere(path []ast.Node, methods []string) bool {
	if len(path) < 3 {
		return false
	}
	sel, ok := path[len(path)-2].(*ast.SelectorExpr)
	if !ok || sel.X != path[len(path)-1] {
		return false
	}
	call, ok := path[len(path)-3].(*ast.CallExpr)
	if !ok || call.Fun != ast.Expr(sel) {
		return false
	}
	for _, m := range methods {
		if sel.Sel.Name == m {
			return true
		}
	}
	return false
}

// assignedAndRead reports whether the node at the end of the site's path is the only value of a :=
// of one variable, and all other uses of that variable pass.
func (s *site) assignedAndRead(passes func(path []ast.Node) bool) bool {
	assign, ok := s.parent(1).(*ast.AssignStmt)
	if !ok || assign.Tok != token.DEFINE || len(assign.Lhs) != 1 || len(assign.Rhs) != 1 {
		return false
	}
	id, ok := assign.Lhs[0].(*ast.Ident)
	if !ok {
		return false
	}
	obj := s.pkg.TypesInfo.Defs[id]
	if obj == nil {
		return false
	}
	fine := true
	var path []ast.Node
	ast.Inspect(s.fn, func(n ast.Node) bool {
		if n == nil {
			path = path[:len(path)-1]
			return true
		}
		path = append(path, n)
		if use, ok := n.(*ast.Ident); ok && s.pkg.TypesInfo.Uses[use] == obj && !passes(path) {
			fine = false
		}
		return true
	})
	return fine
}

// hoist moves an expression into a variable of the package, before the function.
func (s *site) hoist(e ast.Expr, suffix, why string) *proposal {
	name := s.freeName(lowerFirst(s.fn.Name.Name) + suffix)
	at := s.fn.Pos()
	if s.fn.Doc != nil {
		at = s.fn.Doc.Pos()
	}
	return &proposal{risk: ByContext, why: why, edits: []edit{
		{at, at, fmt.Sprintf("// %s is created once, for all calls of %s.\nvar %s = %s\n\n", name, s.fn.Name.Name, name, s.text(e))},
		{e.Pos(), e.End(), name},
	}}
}

// freeName returns a name that nothing in the package has, with a number if necessary.
func (s *site) freeName(stem string) string {
	used := map[string]bool{}
	for _, f := range s.pkg.Syntax {
		ast.Inspect(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				used[id.Name] = true
			}
			return true
		})
	}
	name := stem
	for i := 2; used[name] || s.taken[name]; i++ {
		name = fmt.Sprintf("%s%d", stem, i)
	}
	s.taken[name] = true
	return name
}

func lowerFirst(name string) string { return strings.ToLower(name[:1]) + name[1:] }

// hoistLiteral creates a map or slice of constants once if it is only looked up, ranged over and
// measured.
func hoistLiteral(s *site, n ast.Node) (*proposal, error) {
	lit, ok := n.(*ast.CompositeLit)
	if !ok {
		return nil, nil
	}
	switch s.typeOf(lit).Underlying().(type) {
	case *types.Map, *types.Slice:
	default:
		return nil, nil
	}
	if !s.constantElements(lit) {
		return nil, errNotConstant
	}
	if err := s.global(lit); err != nil {
		return nil, err
	}
	if !s.lookedUp(s.path) && !s.assignedAndRead(s.lookedUp) {
		return nil, errUsed
	}
	return s.hoist(lit, "Table", "its elements are constant, and it is only looked up"), nil
}

// constantElements reports whether a literal's keys and values are constants, or structs of them.
func (s *site) constantElements(lit *ast.CompositeLit) bool {
	for _, e := range lit.Elts {
		parts := []ast.Expr{e}
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			parts = []ast.Expr{kv.Value}
			if _, isStruct := s.typeOf(lit).Underlying().(*types.Struct); !isStruct {
				parts = append(parts, kv.Key)
			}
		}
		for _, p := range parts {
			if inner, ok := p.(*ast.CompositeLit); ok {
				if _, isStruct := s.typeOf(inner).Underlying().(*types.Struct); !isStruct || !s.constantElements(inner) {
					return false
				}
			} else if !s.constant(p) {
				return false
			}
		}
	}
	return true
}

// lookedUp reports whether the last node of a path is only read: it is indexed, ranged over or
// measured, and the result of an index is neither assigned to nor has its address taken.
func (s *site) lookedUp(path []ast.Node) bool {
	n := path[len(path)-1]
	path = path[:len(path)-1]
	switch p := path[len(path)-1].(type) {
	case *ast.RangeStmt:
		return p.X == n
	case *ast.CallExpr:
		return s.callee(p) == "len"
	case *ast.IndexExpr:
		if p.X != n {
			return false
		}
	default:
		return false
	}
	for {
		n, path = path[len(path)-1], path[:len(path)-1]
		switch p := path[len(path)-1].(type) {
		case *ast.SelectorExpr:
			if _, ok := s.pkg.TypesInfo.Uses[p.Sel].(*types.Func); ok {
				return false // a method may have a pointer receiver
			}
		case *ast.ParenExpr:
		case *ast.AssignStmt:
			for _, l := range p.Lhs {
				if l == n {
					return false
				}
			}
			return true
		case *ast.IncDecStmt, *ast.SliceExpr:
			return false
		case *ast.UnaryExpr:
			return p.Op != token.AND
		case *ast.RangeStmt:
			return p.X == n
		default:
			return true
		}
	}
}
