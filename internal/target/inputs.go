package target

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// PartInputs is the part of Collect.Inputs.
const PartInputs = "inputs"

// Func is a function of the program, of a module that it uses or of the standard library, as a
// profile knows it.
type Func struct {
	Name    string // as profiles have it: "text/template.(*Template).Parse"
	Package string // import path of its package; package main's own
	File    string // absolute
	Line    int    // of the word func
	Params  int    // in Binary.Watched: how many parameters have a name
}

//go:embed compilewrap/main.go
var compileWrap []byte

// watch is what a build needs so that functions report their inputs. With -toolexec, the go command
// gives the compiler copies of their files in which each function starts with a call of a function
// variable of its package, and the probe sets those variables. An overlay is not possible: the go
// command refuses overlays of files in the module cache.
type watch struct {
	funcs  []Func // that are watched; the number of one is its place here
	flags  []string
	env    string
	setter string // source for the probe
}

// watch writes the copies.
func (b *builder) watch(ctx context.Context, work string) (*watch, error) {
	for _, f := range append(b.goflags[:len(b.goflags):len(b.goflags)], b.flags...) {
		switch f.name {
		case "toolexec", "race", "msan", "asan": // the sanitizers would report the switches, which nothing guards
			return nil, fmt.Errorf("inputs are not counted in a program that is built with %s", f)
		}
	}
	dir := filepath.Join(work, "watched")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("write watched functions: %w", err)
	}
	w := &watch{env: "HONE0_INPUTS=" + dir}
	byPackage := map[string][]Func{}
	for _, f := range b.spec.Inputs {
		if f.Package == b.pkg.ImportPath && filepath.Dir(f.File) != b.pkg.Dir {
			continue // by its name it is of this package, but its file is not
		}
		byPackage[f.Package] = append(byPackage[f.Package], f)
	}
	var set setter
	for i, pkg := range slices.Sorted(maps.Keys(byPackage)) {
		p := watchedPackage{first: len(w.funcs), funcs: byPackage[pkg]}
		if err := p.rewrite(); err != nil {
			return nil, err
		}
		if len(p.watched) == 0 {
			continue
		}
		mark, err := p.write(dir)
		if err != nil {
			return nil, err
		}
		w.flags = append(w.flags, "-gcflags="+pkg+"=-hone0inputs="+mark)
		w.funcs = append(w.funcs, p.watched...)
		set.tie(pkg, pkg == b.pkg.ImportPath, i, len(p.watched))
	}
	if len(w.funcs) == 0 {
		return nil, errors.New("none of the expensive functions can be watched")
	}
	wrap, err := b.buildWrap(ctx, work)
	if err != nil {
		return nil, err
	}
	w.flags = append(w.flags, "-toolexec="+quoted(wrap))
	w.setter = set.source()
	return w, nil
}

// quoted protects spaces in a path from the go command, which splits -toolexec into words.
func quoted(path string) string {
	if strings.ContainsAny(path, " \t") {
		return `"` + path + `"`
	}
	return path
}

// buildWrap builds the wrapper of the compiler.
func (b *builder) buildWrap(ctx context.Context, work string) (string, error) {
	dir := filepath.Join(work, "compilewrap")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), compileWrap, 0o600); err != nil {
		return "", err
	}
	out := filepath.Join(dir, "compilewrap")
	if runtime.GOOS == "windows" {
		out += ".exe"
	}
	g := b.goCommand
	g.dir = dir
	g.env = append(g.env[:len(g.env):len(g.env)], "GOFLAGS=", "GOWORK=off", "GOTOOLCHAIN="+toolchainName(b.env.GOVERSION))
	if _, err := g.run(ctx, "build", "-o", out, "main.go"); err != nil {
		return "", fmt.Errorf("build the wrapper of the compiler: %w", err)
	}
	return out, nil
}

// toolchainName returns the GOTOOLCHAIN of the go command that is in use: outside of the target's
// module the go command would choose another.
func toolchainName(goversion string) string {
	word, _, _ := strings.Cut(goversion, " ")
	if strings.HasPrefix(word, "go1") && !strings.ContainsAny(word, "-:") {
		return word
	}
	return "local"
}

// watchedPackage is a package with functions to watch.
type watchedPackage struct {
	first   int // number of the first
	funcs   []Func
	watched []Func
	files   map[string][]byte // by path
}

// The names that are added to a watched package.
const (
	watchSwitch = "hone0on"
	watchHook   = "hone0inputs"
	watchEnd    = "hone0end"
	watchResult = "hone0result"
)

// rewrite makes the copies of a package's files. Functions that cannot be watched are left out.
func (p *watchedPackage) rewrite() error {
	byFile := map[string][]Func{}
	for _, f := range p.funcs {
		byFile[f.File] = append(byFile[f.File], f)
	}
	p.files = map[string][]byte{}
	for _, path := range slices.Sorted(maps.Keys(byFile)) {
		src, err := os.ReadFile(path)
		if err != nil {
			continue // made by a tool, or not here
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil || usesC(file) {
			continue
		}
		if out := p.watchIn(src, fset, file, byFile[path]); out != nil {
			p.files[path] = out
		}
	}
	if len(p.watched) == 0 {
		return nil
	}
	first := slices.Min(slices.Collect(maps.Keys(p.files)))
	p.files[first] = fmt.Appendf(p.files[first], "\n\nvar %s [%d]bool\n\nvar %s func(int32, interface{}, ...interface{}) func(...interface{})\n", watchSwitch, len(p.watched), watchHook)
	return nil
}

// insertion is text that a copy has in addition.
type insertion struct {
	at   int // offset in the file
	text string
}

// watchIn returns a file in which the functions say what they get; nil when none can.
func (p *watchedPackage) watchIn(src []byte, fset *token.FileSet, file *ast.File, funcs []Func) []byte {
	var all []insertion
	for _, f := range funcs {
		ftype, recv, body, declared := functionAt(fset, file, f.Line)
		if body == nil {
			continue
		}
		args := names(ftype.Params)
		receiver := names(recv)
		loops := workLoops(file, body)
		// A literal without parameters has inputs all the same: the variables that it captures.
		called := declared || len(args)+len(receiver) > 0
		if !called && len(loops) == 0 {
			continue
		}
		n := len(p.watched)
		if called {
			call := fmt.Sprintf("%s(%d, %s)", watchHook, p.first+n, strings.Join(append(append(receiver, "nil")[:1], args...), ", "))
			if names, added := resultNames(fset, ftype.Results); len(names) > 0 {
				all = append(all, added...)
				call = fmt.Sprintf("if %s := %s; %[1]s != nil { defer %[1]s(&%[3]s) }", watchEnd, call, strings.Join(names, ", &"))
			} else { // also results that cannot be read: the probe must know when the call ends
				call = fmt.Sprintf("if %s := %s; %[1]s != nil { defer %[1]s() }", watchEnd, call)
			}
			all = append(all, insertion{fset.Position(body.Lbrace).Offset + 1, fmt.Sprintf(" if %s[%d] { %s };", watchSwitch, n, call)})
		}
		for _, l := range loops {
			all = append(all, insertion{fset.Position(l.Lbrace).Offset + 1,
				fmt.Sprintf(" if %s[%d] { %s(%d, nil) };", watchSwitch, n, watchHook, -1-p.first-n)})
		}
		f.Params = len(args)
		p.watched = append(p.watched, f)
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b insertion) int { return a.at - b.at })
	// Positions stay those of the file itself.
	out := fmt.Appendf(nil, "//line %s:1\n", fset.Position(file.FileStart).Filename)
	last := 0
	for _, in := range all {
		out = append(append(out, src[last:in.at]...), in.text...)
		last = in.at
	}
	return append(out, src[last:]...)
}

// usesC reports whether a file is compiled by cgo, which gives the compiler other files.
func usesC(file *ast.File) bool {
	return slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"C"` })
}

// functionAt returns the function whose word func is on a line; nil if there is none or more than
// one, or if it has a compiler directive, such as go:nosplit, other than go:noinline. declared is
// false for a literal.
func functionAt(fset *token.FileSet, file *ast.File, line int) (ftype *ast.FuncType, recv *ast.FieldList, body *ast.BlockStmt, declared bool) {
	n := 0
	ast.Inspect(file, func(node ast.Node) bool {
		switch f := node.(type) {
		case *ast.FuncDecl:
			if fset.Position(f.Type.Func).Line == line {
				n++
				if !directed(f.Doc) {
					ftype, recv, body, declared = f.Type, f.Recv, f.Body, true
				}
			}
		case *ast.FuncLit:
			if fset.Position(f.Type.Func).Line == line {
				n++
				ftype, recv, body, declared = f.Type, nil, f.Body, false
			}
		}
		return true
	})
	if n != 1 {
		return nil, nil, nil, false
	}
	return ftype, recv, body, declared
}

func directed(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool {
		return strings.HasPrefix(c.Text, "//go:") && c.Text != "//go:noinline"
	})
}

// names are the names of parameters that have one.
func names(fields *ast.FieldList) []string {
	var out []string
	if fields == nil {
		return nil
	}
	for _, f := range fields.List {
		for _, id := range f.Names {
			if id.Name != "_" {
				out = append(out, id.Name)
			}
		}
	}
	return out
}

// resultNames returns the names of a function's results, and the edits that name those without a
// name. It returns nothing if one is called _.
func resultNames(fset *token.FileSet, results *ast.FieldList) (names []string, added []insertion) {
	if results == nil {
		return nil, nil
	}
	at := func(p token.Pos) int { return fset.Position(p).Offset }
	bare := !results.Opening.IsValid()
	if bare {
		added = append(added, insertion{at(results.Pos()), "("})
	}
	for _, f := range results.List {
		if len(f.Names) == 0 {
			name := fmt.Sprintf("%s%d", watchResult, len(names))
			names = append(names, name)
			added = append(added, insertion{at(f.Type.Pos()), name + " "})
		}
		for _, id := range f.Names {
			if id.Name == "_" {
				return nil, nil
			}
			names = append(names, id.Name)
		}
	}
	if bare {
		added = append(added, insertion{at(results.End()), ")"})
	}
	return names, added
}

// write writes the copies, and the list of them that the wrapper reads. It returns the list's name,
// a hash of all of them.
func (p *watchedPackage) write(dir string) (string, error) {
	list := map[string]string{}
	sum := sha256.New()
	for _, path := range slices.Sorted(maps.Keys(p.files)) {
		fmt.Fprintf(sum, "%s %d\n%s", path, len(p.files[path]), p.files[path])
		to := filepath.Join(dir, fmt.Sprintf("%d-%d-%s", p.first, len(list), filepath.Base(path)))
		if err := os.WriteFile(to, p.files[path], 0o600); err != nil {
			return "", fmt.Errorf("write watched functions: %w", err)
		}
		list[path] = to
	}
	text, err := json.Marshal(list)
	if err != nil {
		return "", err
	}
	mark := fmt.Sprintf("%x", sum.Sum(nil)[:12])
	if err := os.WriteFile(filepath.Join(dir, mark), text, 0o600); err != nil {
		return "", fmt.Errorf("write watched functions: %w", err)
	}
	return mark, nil
}

// setter is the source that ties the variables of watched packages to the probe.
type setter struct{ decls, body strings.Builder }

// tie adds a package: by the linker or, for the probe's own package, by name. i is a different
// number for each package.
func (s *setter) tie(pkg string, own bool, i, funcs int) {
	on, hook := watchSwitch, watchHook
	if !own {
		on, hook = fmt.Sprintf("%sIn%d", watchSwitch, i), fmt.Sprintf("%sIn%d", watchHook, i)
		symbol := linkerPath(pkg)
		fmt.Fprintf(&s.decls, "//go:linkname %s %s.%s\nvar %s [%d]bool\n\n", on, symbol, watchSwitch, on, funcs)
		fmt.Fprintf(&s.decls, "//go:linkname %s %s.%s\nvar %s func(int32, interface{}, ...interface{}) func(...interface{})\n\n", hook, symbol, watchHook, hook)
	}
	fmt.Fprintf(&s.body, "\t%s = hone0input\n\tfor i := range %s {\n\t\thone0watching = append(hone0watching, &hone0watched{on: &%s[i]})\n\t}\n", hook, on, on)
}

func (s *setter) source() string {
	return "\n" + s.decls.String() + "func hone0watchInputs() {\n" + s.body.String() + "}\n"
}

// linkerPath returns an import path as the linker writes it in symbols: dots of its last element
// are escaped (cmd/internal/objabi, PathToPrefix).
func linkerPath(pkg string) string {
	dir, last := "", pkg
	if i := strings.LastIndexByte(pkg, '/'); i >= 0 {
		dir, last = pkg[:i+1], pkg[i+1:]
	}
	var b strings.Builder
	b.WriteString(dir)
	for i := range len(last) {
		switch c := last[i]; {
		case c <= ' ' || c == '.' || c == '%' || c == '"' || c >= 0x7f:
			fmt.Fprintf(&b, "%%%02x", c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// Inputs returns the inputs of the watched functions since ClearInputs, in the format that
// inputs.Parse reads.
func (p *Process) Inputs(ctx context.Context) ([]byte, error) {
	var b boundedBuffer
	if _, err := p.ask(ctx, "counters of inputs", longAnswer, &b, "inputs", "read"); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// ClearInputs begins to count.
func (p *Process) ClearInputs(ctx context.Context) error {
	var b boundedBuffer
	_, err := p.ask(ctx, "counters of inputs", shortAnswer, &b, "inputs", "clear")
	return err
}
