package changed

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	maxFileBytes = 4 << 20
	maxFiles     = 2000
)

// tree is the source of a release. Packages are parsed when they are needed.
type tree struct {
	release Release
	fset    *token.FileSet
	pkgs    map[string]*pkg // by import path; nil for those without source
}

// pkg is a package, by its syntax.
type pkg struct {
	tree  *tree
	path  string
	funcs map[string][]*function // by "F" or "T.F"; several if build constraints choose one
	named map[string][]*function // methods by their name
	types map[string]*typeDecl
	vars  map[string]*variable
}

// file is a parsed file.
type file struct {
	pkg     *pkg
	name    string // relative to the module
	src     []byte
	syntax  *ast.File
	imports map[string]string // path by name
}

// typeDecl is a type of a package.
type typeDecl struct {
	file   *file
	spec   *ast.TypeSpec
	fields map[string]*field // of a struct
	embeds []string          // types of its embedded fields, in the same package
}

// field is a field of a struct.
type field struct{ typ, comment string }

// variable is a package variable or a constant.
type variable struct {
	file    *file
	name    string
	typ     string   // "" if it is not declared
	value   ast.Expr // nil if there is none
	comment string
	line    int
	isConst bool
}

func newTree(r Release) *tree {
	return &tree{release: r, fset: token.NewFileSet(), pkgs: map[string]*pkg{}}
}

// find returns the declaration that a function of a profile is in.
func (t *tree) find(name string) (*function, error) {
	importPath, rest, err := parts(name)
	if err != nil {
		return nil, err
	}
	p := t.load(importPath)
	if p == nil {
		return nil, fmt.Errorf("no source of package %s in %s", importPath, t.release.Dir)
	}
	if len(rest) > 1 {
		if list := p.funcs[rest[0]+"."+rest[1]]; len(list) > 0 {
			return list[0], nil
		}
	}
	if list := p.funcs[rest[0]]; len(list) > 0 {
		return list[0], nil
	}
	return nil, errors.New("no such function in its package")
}

// packageOf returns the package in which this release has what another release has in f's package.
func (t *tree) packageOf(f *function) *pkg {
	return t.load(t.release.Module + strings.TrimPrefix(f.file.pkg.path, f.file.pkg.tree.release.Module))
}

// counterpart returns the function with the same receiver and name as one of another release. Of
// several, for different systems, it takes that in the file of the same name.
func (t *tree) counterpart(f *function) *function {
	p := t.packageOf(f)
	if p == nil {
		return nil
	}
	list := p.funcs[f.key]
	for _, g := range list {
		if path.Base(g.file.name) == path.Base(f.file.name) {
			return g
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// load parses a package of the module; nil if it has no source.
func (t *tree) load(importPath string) *pkg {
	if p, ok := t.pkgs[importPath]; ok {
		return p
	}
	t.pkgs[importPath] = nil
	sub, ok := strings.CutPrefix(importPath, t.release.Module)
	if !ok || sub != "" && sub[0] != '/' || strings.Contains(sub, "..") {
		return nil
	}
	dir := filepath.Join(t.release.Dir, filepath.FromSlash(sub))
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > maxFiles {
		return nil
	}
	p := &pkg{tree: t, path: importPath, funcs: map[string][]*function{}, named: map[string][]*function{},
		types: map[string]*typeDecl{}, vars: map[string]*variable{}}
	for _, e := range entries {
		if name := e.Name(); e.Type().IsRegular() && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			p.parse(filepath.Join(dir, name), path.Join(strings.TrimPrefix(sub, "/"), name))
		}
	}
	if len(p.funcs)+len(p.types)+len(p.vars) == 0 {
		return nil
	}
	t.pkgs[importPath] = p
	return p
}

// parse adds a file to the package. One that does not parse is left out.
func (p *pkg) parse(full, name string) {
	if info, err := os.Stat(full); err != nil || info.Size() > maxFileBytes {
		return
	}
	src, err := os.ReadFile(full)
	if err != nil {
		return
	}
	syntax, err := parser.ParseFile(p.tree.fset, full, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || syntax.Name.Name == "main_test" {
		return
	}
	f := &file{pkg: p, name: name, src: src, syntax: syntax, imports: map[string]string{}}
	for _, i := range syntax.Imports {
		if importPath, err := strconv.Unquote(i.Path.Value); err == nil {
			f.imports[importName(i, importPath)] = importPath
		}
	}
	for _, d := range syntax.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			p.addFunction(f, d)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				p.addSpec(f, d, s)
			}
		}
	}
}

// importName is the name of an import in its file: without a name of its own, probably the last
// element of the path that is not a version.
func importName(i *ast.ImportSpec, importPath string) string {
	if i.Name != nil {
		return i.Name.Name
	}
	name := path.Base(importPath)
	if isVersion(name) && name != importPath {
		name = path.Base(path.Dir(importPath))
	}
	if before, version, ok := strings.Cut(name, "."); ok && isVersion(version) {
		name = before
	}
	return strings.TrimPrefix(strings.TrimSuffix(name, "-go"), "go-")
}

func (p *pkg) addFunction(f *file, d *ast.FuncDecl) {
	if d.Body == nil {
		return
	}
	fn := &function{file: f, decl: d, key: d.Name.Name}
	if d.Recv != nil && len(d.Recv.List) == 1 {
		fn.receiver = typeName(d.Recv.List[0].Type)
		fn.key = fn.receiver + "." + d.Name.Name
		p.named[d.Name.Name] = append(p.named[d.Name.Name], fn)
	}
	p.funcs[fn.key] = append(p.funcs[fn.key], fn)
}

func (p *pkg) addSpec(f *file, d *ast.GenDecl, s ast.Spec) {
	switch s := s.(type) {
	case *ast.TypeSpec:
		if p.types[s.Name.Name] == nil {
			p.types[s.Name.Name] = newType(f, s)
		}
	case *ast.ValueSpec:
		comment := firstSentence(s.Doc, s.Comment)
		if comment == "" && len(d.Specs) == 1 {
			comment = firstSentence(d.Doc)
		}
		for i, name := range s.Names {
			v := &variable{file: f, name: name.Name, comment: comment, line: f.line(name.Pos()), isConst: d.Tok == token.CONST}
			if s.Type != nil {
				v.typ = f.text(s.Type)
			}
			if len(s.Values) == len(s.Names) {
				v.value = s.Values[i]
			}
			p.vars[name.Name] = v
		}
	}
}

func newType(f *file, s *ast.TypeSpec) *typeDecl {
	t := &typeDecl{file: f, spec: s}
	st, ok := s.Type.(*ast.StructType)
	if !ok {
		return t
	}
	t.fields = map[string]*field{}
	for _, l := range st.Fields.List {
		d := &field{typ: f.text(l.Type), comment: firstSentence(l.Doc, l.Comment)}
		for _, name := range l.Names {
			t.fields[name.Name] = d
		}
		if len(l.Names) == 0 {
			name := typeName(l.Type)
			t.fields[name] = d
			t.embeds = append(t.embeds, name)
		}
	}
	return t
}

// typeName is the name of a type without pointer, package and type arguments; "" if it has none.
func typeName(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x.Name
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.SelectorExpr:
			return x.Sel.Name
		default:
			return ""
		}
	}
}

// method returns a method of a type or of those that it embeds.
func (p *pkg) method(typ, name string) *function {
	return p.methodAt(typ, name, 3)
}

func (p *pkg) methodAt(typ, name string, depth int) *function {
	if list := p.funcs[typ+"."+name]; len(list) > 0 {
		return list[0]
	}
	if t := p.types[typ]; t != nil && depth > 0 {
		for _, e := range t.embeds {
			if f := p.methodAt(e, name, depth-1); f != nil {
				return f
			}
		}
	}
	return nil
}

// structs returns the names of the package's structs, sorted.
func (p *pkg) structs() (names []string) {
	for name, t := range p.types {
		if t.fields != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
