package rewrite

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/imports"
)

// Risk is what a rewrite depends on.
type Risk string

// Kinds of risk, the smallest first.
const (
	ByTypes   Risk = "types"   // the types alone show that old and new code do the same
	ByContext Risk = "context" // a condition that was checked in the surrounding code shows it
	// Judgement: the program does something else, which its author may want. Such a change is
	// shown, and never applied.
	Judgement Risk = "judgement"
)

// Change is one rewrite of a finding's lines.
type Change struct {
	File string // absolute
	Old  []byte
	New  []byte // formatted, its imports in order
	Risk Risk
	Why  string // why old and new code do the same, in a sentence
}

// edit replaces the text between two positions.
type edit struct {
	from, to token.Pos
	text     string
}

// proposal is what a rewriter offers for one place.
type proposal struct {
	edits []edit
	risk  Risk
	why   string
}

// rewriter examines one node on a finding's lines, or a function with them. It returns nil, nil if
// it does not rewrite such nodes, and an error that says why the place is left alone.
type rewriter func(t *site, n ast.Node) (*proposal, error)

// site is where a finding is.
type site struct {
	pkg  *packages.Package
	file *ast.File
	src  []byte
	fn   *ast.FuncDecl // around the lines
	path []ast.Node    // from the function down to the node, the node last

	lines map[int]bool    // of the finding
	taken map[string]bool // names that this change gives to variables
}

// rewriters returns those of each rule. A rule that is not listed has none.
func rewriters() map[string][]rewriter {
	return map[string][]rewriter{
		"sprintf-simple":          {steps, sprintf},
		"fmt-then-bytes":          {appendf, fprintf},
		"format-then-append":      {appendFormatted},
		"replacer-per-call":       {hoistCall},
		"regexp-compile-per-call": {hoistCall},
		"template-parse-per-call": {hoistCall},
		"literal-per-call":        {hoistLiteral},
		"constant-work":           {hoistCall},
		"concat-loop":             {repeat, builder},
		"slice-growth":            {growSlice},
		"map-growth":              {sizeMap},
		"timer-in-loop":           {timer},
		"log-args-boxed":          {logLevel},
		"small-writes":            {buffered},
	}
}

// Rules lists the rules with a rewrite.
func Rules() []string {
	var ids []string
	for id := range rewriters() {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Errors for places that are left alone.
var (
	ErrNoRewrite = errors.New("the rule has no rewrite that is safe by types alone")
	errNoMatch   = errors.New("no line has a form that the rewrite knows")
)

// Suggest returns the change for a rule's lines in a file of a package that was loaded with that
// overlay. The error says why there is none.
func Suggest(pkg *packages.Package, file string, overlay map[string][]byte, rule string, lines []int) (*Change, error) {
	list := rewriters()[rule]
	if list == nil {
		return nil, ErrNoRewrite
	}
	s, err := siteOf(pkg, file, overlay, lines)
	if err != nil {
		return nil, err
	}
	change := &Change{File: file, Old: s.src, Risk: ByTypes}
	var edits []edit
	refused := errNoMatch
	for _, path := range s.nodes(lines) {
		s.path = path
		for _, rewrite := range list {
			p, err := rewrite(s, path[len(path)-1])
			if err != nil {
				if errors.Is(refused, errNoMatch) {
					refused = fmt.Errorf("line %d: %w", s.line(path[len(path)-1].Pos()), err)
				}
				continue
			}
			if p == nil || overlaps(edits, p.edits) {
				continue
			}
			edits = append(edits, p.edits...)
			change.Why = p.why
			if p.risk != ByTypes && change.Risk != Judgement {
				change.Risk = p.risk
			}
			break
		}
	}
	if len(edits) == 0 {
		return nil, refused
	}
	text, err := s.apply(edits)
	if err != nil {
		return nil, err
	}
	change.New, err = imports.Process(file, text, &imports.Options{Comments: true, TabIndent: true, TabWidth: 8})
	if err != nil {
		return nil, fmt.Errorf("the rewritten file does not parse: %w", err)
	}
	return change, nil
}

// siteOf finds a file and the function with the lines.
func siteOf(pkg *packages.Package, file string, overlay map[string][]byte, lines []int) (*site, error) {
	for i, f := range pkg.Syntax {
		if i >= len(pkg.CompiledGoFiles) || pkg.CompiledGoFiles[i] != file {
			continue
		}
		if ast.IsGenerated(f) {
			return nil, errors.New("the file is generated: change what makes it")
		}
		s := &site{pkg: pkg, file: f, lines: map[int]bool{}, taken: map[string]bool{}}
		for _, l := range lines {
			s.lines[l] = true
		}
		var err error
		if s.src = overlay[file]; s.src == nil {
			if s.src, err = os.ReadFile(file); err != nil {
				return nil, err
			}
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && slices.ContainsFunc(lines, func(l int) bool {
				return s.line(fn.Pos()) <= l && l <= s.line(fn.End())
			}) {
				s.fn = fn
				return s, nil
			}
		}
		return nil, errors.New("the lines are in no function of the file: it has changed since the recording")
	}
	return nil, fmt.Errorf("%s is not among the files of %s", file, pkg.PkgPath)
}

// line returns the line of a position.
func (s *site) line(pos token.Pos) int { return s.pkg.Fset.PositionFor(pos, false).Line }

// nodes returns the paths to all nodes of the function that touch the lines, outer ones first.
func (s *site) nodes(lines []int) (paths [][]ast.Node) {
	var path []ast.Node
	ast.Inspect(s.fn, func(n ast.Node) bool {
		if n == nil {
			path = path[:len(path)-1]
			return true
		}
		path = append(path, n)
		from, to := s.line(n.Pos()), s.line(n.End())
		if slices.ContainsFunc(lines, func(l int) bool { return from <= l && l <= to }) {
			paths = append(paths, slices.Clone(path))
		}
		return true
	})
	return paths
}

func overlaps(all, more []edit) bool {
	for _, a := range all {
		for _, b := range more {
			if a.from < b.to && b.from < a.to {
				return true
			}
		}
	}
	return false
}

// apply applies the edits. Insertions at one place keep their order.
func (s *site) apply(edits []edit) ([]byte, error) {
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	tf := s.pkg.Fset.File(s.file.FileStart)
	var out []byte
	at := 0
	for _, e := range edits {
		from, to := tf.Offset(e.from), tf.Offset(e.to)
		if from < at || to > len(s.src) {
			return nil, errors.New("the file has changed since it was read")
		}
		out = append(append(out, s.src[at:from]...), e.text...)
		at = to
	}
	return append(out, s.src[at:]...), nil
}

// text returns a node's source.
func (s *site) text(n ast.Node) string {
	tf := s.pkg.Fset.File(s.file.FileStart)
	return string(s.src[tf.Offset(n.Pos()):tf.Offset(n.End())])
}

// parent returns the node n levels above.
func (s *site) parent(n int) ast.Node {
	if i := len(s.path) - 1 - n; i >= 0 {
		return s.path[i]
	}
	return nil
}

// callee returns the full name of the function or method that is called: "fmt.Sprintf",
// "(*regexp.Regexp).Longest".
func (s *site) callee(call *ast.CallExpr) string {
	fun := ast.Unparen(call.Fun)
	var id *ast.Ident
	switch f := fun.(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	default:
		return ""
	}
	switch obj := s.pkg.TypesInfo.Uses[id].(type) {
	case *types.Func:
		return obj.FullName()
	case *types.Builtin:
		return obj.Name()
	}
	return ""
}

// qualify returns the name of a package of the standard library at a place: that of the file's
// import, or its own name if nothing else has that name there. It returns false if something else
// does.
func (s *site) qualify(path string, at token.Pos) (string, bool) {
	name := path[strings.LastIndexByte(path, '/')+1:]
	for _, spec := range s.file.Imports {
		if strings.Trim(spec.Path.Value, `"`) == path && spec.Name != nil {
			if spec.Name.Name == "." || spec.Name.Name == "_" {
				return "", false
			}
			name = spec.Name.Name
		}
	}
	scope := s.pkg.Types.Scope().Innermost(at)
	if scope == nil {
		return "", false
	}
	_, obj := scope.LookupParent(name, at)
	if obj == nil {
		return name, true
	}
	pkg, ok := obj.(*types.PkgName)
	return name, ok && pkg.Imported().Path() == path
}

// constant reports whether the compiler knows an expression's value.
func (s *site) constant(e ast.Expr) bool { return s.pkg.TypesInfo.Types[e].Value != nil }

// typeOf returns an expression's type.
func (s *site) typeOf(e ast.Expr) types.Type { return s.pkg.TypesInfo.TypeOf(e) }

// pure reports whether evaluating an expression again, or elsewhere nearby, has no effect and the
// same result as long as its variables do not change: it consists of names, fields, indexes of
// arrays and constants, conversions and len.
func (s *site) pure(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident, *ast.BasicLit:
		return true
	case *ast.SelectorExpr:
		if _, ok := s.pkg.TypesInfo.Uses[e.Sel].(*types.Func); ok {
			return false
		}
		return s.pure(e.X)
	case *ast.BinaryExpr:
		return e.Op != token.QUO && e.Op != token.REM && e.Op != token.SHL && e.Op != token.SHR && s.pure(e.X) && s.pure(e.Y)
	case *ast.CallExpr:
		if tv := s.pkg.TypesInfo.Types[e.Fun]; tv.IsType() {
			return len(e.Args) == 1 && s.pure(e.Args[0])
		}
		return s.callee(e) == "len" && s.pure(e.Args[0])
	}
	return false
}

// isString reports whether a type is the predeclared string.
func isString(t types.Type) bool {
	b, ok := types.Unalias(t).(*types.Basic)
	return ok && (b.Kind() == types.String || b.Kind() == types.UntypedString)
}
