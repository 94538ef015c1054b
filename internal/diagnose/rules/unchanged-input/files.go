package unchangedinput

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

// The functions of this file find files and directories that are read again each time a function
// runs, under a name that does not change: settings, certificates, lists of pages.

// readers are functions that read a file or list a directory, as profiles name them.
func readers() []string {
	return append(listers(), "os.Open", "os.ReadFile", "io/ioutil.ReadFile", "io/fs.ReadFile", "crypto/tls.LoadX509KeyPair")
}

func listers() []string {
	return []string{"os.ReadDir", "io/ioutil.ReadDir", "io/fs.ReadDir", "path/filepath.Glob", "io/fs.Glob"}
}

// loader is a function that reads a file whose name does not change.
type loader struct {
	*found
	whole bool         // all that the function does depends on the file alone
	lines map[int]bool // that read it, or use what was read
}

// reading returns the frame of a row that reads such a file, or does something with what it read;
// -1 for other rows.
func (s *search) reading(r *site.Row) int {
	if s.loaders == nil {
		s.loaders = map[string]*loader{}
		s.pass.EachRow(s.addLoader)
	}
	for i, f := range r.Stack {
		l := s.loaders[f.File+" "+f.Function]
		if l == nil || !l.whole && !l.lines[f.Line] {
			continue
		}
		if pos := (gocode.Pos{File: f.File, Line: f.Line}); s.first[pos] == nil {
			s.first[pos] = l.found
		}
		return i
	}
	return -1
}

// addLoader adds the function in a row that reads a file whose name does not change.
func (s *search) addLoader(r *site.Row) {
	for i := 1; i < len(r.Stack); i++ {
		f := r.Stack[i]
		if f.Owner.Kind != gocode.Main || !funcname.Match(r.Stack[i-1].Function, readers()...) {
			continue
		}
		name := f.File + " " + f.Function
		if s.loaders[name] != nil {
			return
		}
		place, ok := s.pass.Syntax.At(f.File, f.Line)
		if !ok {
			return
		}
		for _, call := range syntax.CallsTo(place, r.Stack[i-1].Function) {
			key := at{callers: [mostCallers]*site.Frame{}}
			copy(key.callers[:], r.Stack[i+1:])
			if l := s.loader(place, f, call, &key); l != nil {
				s.loaders[name] = l
			}
		}
		return
	}
}

// loader returns what is known about a call that reads a file, if its name does not change, the
// call runs often, and the program does not write files; nil for others.
func (s *search) loader(place *gocode.Place, f *site.Frame, call *ast.CallExpr, key *at) *loader {
	runs := s.runs(place, f, call)
	if !evidence.Hot(s.pass, counts.Executions{PerUnit: runs}) || !loops.PerCall(place, call) || s.writes(runs) || changes(s.pass, place, call) || passedOn(place, call) {
		return nil
	}
	o := &origin{pass: s.pass, place: place, frame: f, callers: key.callers[:], runs: runs, patterns: s.patterns}
	if !o.whole(call) {
		return nil
	}
	l := &loader{found: &found{place: place, call: call, names: longest(o.names), runs: runs, sets: o.sets, reads: true}, lines: map[int]bool{place.Line: true}}
	l.whole = answersAlone(place, o)
	decoded := false
	if v := syntax.Result(place, call); v != nil {
		ast.Inspect(syntax.Body(place), func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok && c.Pos() > call.End() && syntax.Mentions(place, c, v) && decodes(place, c) {
				decoded = true
				l.lines[syntax.Line(place, c.Pos())] = true
			}
			return true
		})
	}
	if !l.whole && !decoded {
		return nil // a search in a text, such as a log, for what a request names
	}
	return l
}

// decodes reports whether a call makes something of a text or file that it gets, by its name.
func decodes(p *gocode.Place, call *ast.CallExpr) bool {
	name := strings.ToLower(lastName(p, call))
	for _, word := range []string{"unmarshal", "decode", "parse", "compile", "appendcerts", "keypair", "load"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

func lastName(p *gocode.Place, call *ast.CallExpr) string {
	name := p.CalleeName(call)
	return name[strings.LastIndexByte(name, '.')+1:]
}

// answersAlone reports whether a function returns something that depends on what it reads alone:
// its parameters do not change either, and it does not change its receiver.
func answersAlone(p *gocode.Place, o *origin) bool {
	sig := syntax.SignatureOf(p)
	if sig == nil || p.Decl == nil || p.Func != ast.Node(p.Decl) || sig.Results().Len() == 0 || sig.Results().Len() == 1 && sig.Results().At(0).Type().String() == "error" {
		return false
	}
	for _, field := range p.Decl.Type.Params.List {
		for _, name := range field.Names {
			v, _ := p.Object(name).(*types.Var)
			if v == nil || v.Type().String() == "context.Context" || len(syntax.Reads(p, v)) == 0 {
				continue
			}
			if trial := *o; !trial.fixed(name) {
				return false
			}
		}
	}
	alone := true
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SendStmt, *ast.GoStmt, *ast.DeferStmt:
			if d, ok := n.(*ast.DeferStmt); ok {
				alone = alone && strings.HasSuffix(p.CalleeName(d.Call), "Close")
				return false
			}
			alone = false
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				v, part := syntax.Var(p, lhs)
				alone = alone && (v == nil || !part || v != sig.Recv())
			}
		}
		return alone
	})
	return alone
}

// writes reports whether the program writes or removes files about as often as a line runs: what it
// reads may be what it wrote.
func (s *search) writes(runs float64) bool {
	for _, name := range []string{"os.WriteFile", "io/ioutil.WriteFile", "os.Create", "os.CreateTemp", "os.OpenFile", "os.Rename", "os.Remove", "os.RemoveAll", "os.Symlink"} {
		for _, place := range s.pass.Syntax.CallsOf(name) {
			for _, call := range syntax.CallsOf(place, name) {
				if n, ok := evidence.ReachedAt(s.pass, place, call.Pos()); ok && n > seldom*runs {
					return true
				}
			}
		}
	}
	return false
}

// changes reports whether the name that a call reads is of a file whose content the system changes,
// as those in /proc.
func changes(pass *rule.Pass, p *gocode.Place, call *ast.CallExpr) bool {
	system := func(name string) bool {
		for _, dir := range []string{"/proc", "/sys", "/dev", "/run", "/tmp", "/var/run"} {
			if strings.HasPrefix(name, dir) {
				return true
			}
		}
		return false
	}
	found := false
	for _, arg := range call.Args {
		for _, v := range flow.Constants(pass.Syntax, p, arg) {
			found = found || v.Kind() == constant.String && system(constant.StringVal(v))
		}
		ast.Inspect(arg, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				found = found || system(strings.Trim(lit.Value, "\"`"))
			}
			return !found
		})
	}
	return found
}

// passedOn reports whether an opened file is only copied to a writer, which needs no memory for it.
func passedOn(p *gocode.Place, call *ast.CallExpr) bool {
	v := syntax.Result(p, call)
	if v == nil || p.CalleeName(call) != "os.Open" {
		return false
	}
	found := false
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		found = found || ok && syntax.Mentions(p, c, v) && funcname.Match(p.CalleeName(c), "io.Copy*", "net/http.ServeContent", "(*os.File).Seek", "(*os.File).ReadAt", "(*os.File).Stat")
		return !found
	})
	return found
}

// describeFile is describe for a file or directory.
func (f *found) describeFile(p *rule.Pass, m *rule.Match, runs string) {
	name := f.place.CalleeName(f.call)
	what, why := funcname.List(f.names), "which never changed while executions were counted"
	if len(f.names) == 0 {
		what, why = syntax.Text(f.call.Args[0]), "a constant"
	}
	does, fix := "reads the same file again each time it runs, and decodes what it read", "Read and decode it once, when the program starts, and keep the result, in a field or an atomic.Pointer. If the file may change, read it again when os.Stat shows another modification time, every few seconds, or when a watcher reports it (fsnotify)."
	if funcname.Match(name, funcname.TypedAll(listers())...) {
		does, fix = "lists the same directory again each time it runs", "List it once and keep the names. List it again every few seconds, or when os.Stat shows another modification time of the directory, or when a watcher reports a change (fsnotify)."
	}
	m.Cause = fmt.Sprintf("%s %s: %s gets %s, %s. The program itself does not write files meanwhile.%s", syntax.FuncName(f.place), does, symbol.Short(name), what, why, runs)
	m.Fix = fix
	m.Confidence = rule.Likely // another program may write the file
	m.Fraction = &rule.Fraction{Expect: 0.95, Low: 0.5, High: 1}
	m.Evidence = append(m.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: fmt.Sprintf("%s runs %s per %s", symbol.Short(name), evidence.Times(f.runs), p.Manifest.Unit())})
}
