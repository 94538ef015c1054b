package gocode

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path"
	"slices"
	"sort"
	"strings"

	"golang.org/x/tools/go/packages"
)

// maxSyntax bounds how many packages are loaded with syntax at a time: each costs
// about a hundred times its source in memory.
const maxSyntax = 128

// Syntax is the typed syntax of some packages. It does not change; safe for concurrent use.
type Syntax struct {
	index   *Index
	files   map[string]syntaxFile // by fileKey
	have    []string
	lacking map[string]string
}

type syntaxFile struct {
	fset  *token.FileSet
	file  *ast.File
	pkg   *packages.Package
	plain bool                           // without //line directives
	decls map[types.Object]*ast.FuncDecl // of the package
}

// Syntax loads the typed syntax of the named packages (import paths). What they import
// comes from export data. The target's package is loaded with its tests when
// Config.Test is set. A package that cannot be loaded does not fail the others:
// Packages says why. The error is that of ctx.
func (x *Index) Syntax(ctx context.Context, pkgs []string) (*Syntax, error) {
	s := &Syntax{index: x, files: map[string]syntaxFile{}, lacking: map[string]string{}}
	want, over := distinct(pkgs, maxSyntax)
	for _, p := range over {
		s.lacking[p] = fmt.Sprintf("more than %d packages were asked for", maxSyntax)
	}
	if len(want) == 0 {
		return s, ctx.Err()
	}
	if err := x.cannotBuild(); err != "" {
		for _, p := range want {
			s.lacking[p] = err
		}
		return s, ctx.Err()
	}
	x.progress("reading the syntax of " + few(want[0], len(want)))
	x.prepareProfile() // for export data as the binary has it
	var plain, tested []string
	for _, p := range want {
		if x.cfg.Test && p == x.mainPackage() {
			tested = append(tested, p)
		} else {
			plain = append(plain, p)
		}
	}
	s.load(ctx, plain, false)
	s.load(ctx, tested, true)
	for _, p := range want {
		if _, bad := s.lacking[p]; !bad && !slices.Contains(s.have, p) {
			s.lacking[p] = "the go command does not know it in " + x.cfg.Dir
		}
	}
	sort.Strings(s.have)
	return s, ctx.Err()
}

// Packages lists which packages have syntax, and for the others why not. A package
// with type errors has syntax and is also listed with its first error.
func (s *Syntax) Packages() (have []string, lacking map[string]string) {
	lacking = make(map[string]string, len(s.lacking))
	for p, why := range s.lacking {
		lacking[p] = why
	}
	return append([]string(nil), s.have...), lacking
}

func (s *Syntax) load(ctx context.Context, pkgs []string, tests bool) {
	if len(pkgs) == 0 {
		return
	}
	x := s.index
	loaded, err := packages.Load(&packages.Config{
		Mode:       SyntaxMode,
		Context:    ctx,
		Dir:        x.cfg.Dir,
		Env:        append(append(os.Environ(), x.buildEnv()...), "GOPACKAGESDRIVER=off"),
		BuildFlags: x.syntaxFlags(),
		Tests:      tests,
	}, pkgs...)
	if err != nil {
		for _, p := range pkgs {
			s.lacking[p] = err.Error()
		}
		return
	}
	for _, p := range loaded {
		s.add(p, x.fileKey)
	}
}

// SyntaxMode is what Syntax loads of packages.
const SyntaxMode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
	packages.NeedTypes | packages.NeedTypesSizes | packages.NeedTypesInfo | packages.NeedSyntax |
	packages.NeedForTest | packages.NeedModule

// SyntaxOf is Syntax for packages that the caller loaded with [SyntaxMode]. Their files are found
// by package and base name, whatever their directory was.
func (x *Index) SyntaxOf(loaded []*packages.Package) *Syntax {
	s := &Syntax{index: x, files: map[string]syntaxFile{}, lacking: map[string]string{}}
	for _, p := range loaded {
		s.add(p, nil)
	}
	sort.Strings(s.have)
	return s
}

// syntaxFlags are the build flags as go/packages takes them, with the user's -gcflags so
// that export data comes from the build cache.
func (x *Index) syntaxFlags() []string {
	flags := x.buildFlags()
	for _, g := range x.userGcflags() {
		if g.pattern == "" {
			g.pattern = x.mainPackage()
		}
		flags = append(flags, "-gcflags="+g.pattern+"="+joinQuoted(g.flags))
	}
	return flags
}

// add indexes the files of a loaded package. The variant of a package that is compiled for its test
// contains all files of the plain one, so it replaces them. Files are found by package and base
// name and, if they have one, by key.
func (s *Syntax) add(p *packages.Package, key func(file string) string) {
	if strings.HasSuffix(p.PkgPath, ".test") {
		return
	}
	name := p.PkgPath
	if p.ForTest != "" {
		name = p.ForTest
	}
	if len(p.Errors) > 0 {
		if _, ok := s.lacking[name]; !ok {
			s.lacking[name] = p.Errors[0].Error()
		}
	}
	if len(p.Syntax) == 0 || p.TypesInfo == nil {
		return
	}
	if !slices.Contains(s.have, name) {
		s.have = append(s.have, name)
	}
	decls := declarations(p)
	for _, f := range p.Syntax {
		names := filesOf(p.Fset, f)
		plain := !slices.ContainsFunc(f.Decls, func(d ast.Decl) bool { return moved(p.Fset, d) })
		for _, file := range names {
			// The package is known here. With -trimpath, a file that cgo rewrote names its source
			// as if it were in the build cache.
			keys := []string{name + "/" + path.Base(slashed(file))}
			if key != nil {
				keys = append(keys, key(file))
			}
			for _, k := range keys {
				if old, ok := s.files[k]; !ok || old.pkg.ForTest == "" {
					s.files[k] = syntaxFile{p.Fset, f, p, plain, decls}
				}
			}
		}
	}
}

// filesOf returns the file names that positions in a file have: usually one; cgo and
// generators put //line directives.
func filesOf(fset *token.FileSet, f *ast.File) []string {
	names := []string{fset.Position(f.Package).Filename}
	for _, d := range f.Decls {
		if n := fset.Position(d.Pos()).Filename; !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

// moved reports whether a //line directive gives a declaration other lines than those of its file.
func moved(fset *token.FileSet, d ast.Decl) bool {
	is := func(pos token.Pos) bool { return fset.PositionFor(pos, true) != fset.PositionFor(pos, false) }
	return is(d.Pos()) || is(d.End())
}

// fileKey names a source file however it is written: by package and base name. Files
// of an unknown package are known by their last two elements.
func (x *Index) fileKey(file string) string {
	base := path.Base(slashed(file))
	if o := x.Owner("", file); o.Package != "" {
		return o.Package + "/" + base
	}
	return path.Base(path.Dir(slashed(file))) + "/" + base
}

// cannotBuild returns why packages cannot be built or loaded at all, "" when they can.
func (x *Index) cannotBuild() string {
	if x.cfg.Dir == "" {
		return "the directory of the program's source is not known"
	}
	if err := x.goEnv().err; err != nil {
		return err.Error()
	}
	return ""
}

// distinct returns the first n different names, without empty ones and flags, and the rest.
func distinct(names []string, n int) (first, rest []string) {
	seen := map[string]bool{}
	for _, p := range names {
		if p == "" || p[0] == '-' || seen[p] {
			continue
		}
		seen[p] = true
		if len(first) < n {
			first = append(first, p)
		} else {
			rest = append(rest, p)
		}
	}
	return first, rest
}

// Place is the typed syntax around one line.
type Place struct {
	Fset *token.FileSet
	File *ast.File
	Info *types.Info
	Pkg  *types.Package
	Func ast.Node      // innermost *ast.FuncDecl or *ast.FuncLit that covers the line; nil in a package variable's initialiser
	Decl *ast.FuncDecl // the declaration around it; nil in a package variable's initialiser
	Line int
	// Nodes are the nodes that start on the line or span it inside Func, outermost first.
	Nodes []ast.Node

	from, until token.Pos // of the line, until exclusive; 0 if //line directives move lines

	name  string      // base name of the file, as positions say it
	root  ast.Node    // the root for Nodes and Enclosing: Func, or the declaration
	files []*ast.File // of the package
	decls map[types.Object]*ast.FuncDecl
}

// At returns the syntax around a line; false if the package is not loaded or no declaration with
// code covers the line.
//
// A function literal covers a line if it owns all of it, that is between the lines of its braces.
// On a line like "sort.Slice(s, func(i, j int) bool { return s[i] < s[j] })" Func is the outer
// function, and Nodes also contains what is inside the literal.
func (s *Syntax) At(file string, line int) (*Place, bool) {
	return s.at(s.index.fileKey(file), path.Base(slashed(file)), line)
}

// declarations returns the functions that a package declares: generated ones have thousands.
func declarations(p *packages.Package) map[types.Object]*ast.FuncDecl {
	decls := map[types.Object]*ast.FuncDecl{}
	for _, f := range p.Syntax {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && p.TypesInfo != nil {
				if fn := p.TypesInfo.Defs[d.Name]; fn != nil {
					decls[fn] = d
				}
			}
		}
	}
	return decls
}

// at returns the syntax around a line of the file with a key and a base name.
func (s *Syntax) at(key, base string, line int) (*Place, bool) {
	f, ok := s.files[key]
	if !ok || s.index.distrusted(key) != "" {
		return nil, false
	}
	p := &Place{
		Fset: f.fset, File: f.file, Info: f.pkg.TypesInfo, Pkg: f.pkg.Types,
		Line: line, name: base, files: f.pkg.Syntax, decls: f.decls,
	}
	if f.plain && !p.limit(f.file.FileStart) {
		return nil, false
	}
	decls := f.file.Decls
	if f.plain { // long generated files have thousands
		first := sort.Search(len(decls), func(i int) bool { return decls[i].End() >= p.from })
		decls = decls[first:min(first+1, len(decls))]
	}
	for _, d := range decls {
		if p.spans(d) {
			p.root = d
			if fd, ok := d.(*ast.FuncDecl); ok {
				p.Decl, p.Func = fd, fd
			}
			break
		}
	}
	if p.root == nil {
		return nil, false
	}
	ast.Inspect(p.root, func(n ast.Node) bool {
		if n == nil || !p.spans(n) {
			return false
		}
		if lit, ok := n.(*ast.FuncLit); ok && p.inside(lit.Body) {
			p.Func, p.root = lit, lit
		}
		return true
	})
	p.collect()
	return p, len(p.Nodes) > 0
}

// limit sets the extent of the line in a file without //line directives, given by a position in
// it; false if the file is shorter. Afterwards a node's position alone shows if it is on the line.
func (p *Place) limit(file token.Pos) bool {
	f := p.Fset.File(file)
	if f == nil || p.Line < 1 || p.Line > f.LineCount() {
		return false
	}
	p.from, p.until = f.LineStart(p.Line), f.Pos(f.Size())+1
	if p.Line < f.LineCount() {
		p.until = f.LineStart(p.Line + 1)
	}
	return true
}

// collect gathers the statements and expressions on the line.
func (p *Place) collect() {
	ast.Inspect(p.root, func(n ast.Node) bool {
		if n == nil || !p.spans(n) {
			// A node's children are inside it, so they are not on the line either.
			return false
		}
		switch n.(type) {
		case ast.Stmt, ast.Expr:
			if n != p.root {
				p.Nodes = append(p.Nodes, n)
			}
		}
		return true
	})
}

// line returns the line of a position, 0 when it is in another file.
func (p *Place) line(pos token.Pos) int {
	at := p.Fset.Position(pos)
	if p.name != "" && path.Base(slashed(at.Filename)) != p.name {
		return 0
	}
	return at.Line
}

// spans reports whether a node starts on the line, ends on it, or spans it.
func (p *Place) spans(n ast.Node) bool {
	if !n.Pos().IsValid() {
		return false
	}
	if p.from > 0 {
		return n.Pos() < p.until && n.End() >= p.from
	}
	from := p.line(n.Pos())
	return from > 0 && from <= p.Line && p.Line <= p.line(n.End())
}

// inside reports whether the line is between the lines of a block's braces.
func (p *Place) inside(b *ast.BlockStmt) bool {
	return b != nil && p.line(b.Lbrace) > 0 && p.line(b.Lbrace) < p.Line && p.Line < p.line(b.Rbrace)
}
