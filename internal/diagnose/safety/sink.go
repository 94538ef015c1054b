package safety

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Sink is a destination of a text that may read a value in it as a command, so that advice to build
// the text faster would be wrong.
type Sink int

// The sinks that change advice.
const (
	NoSink Sink = iota
	Query       // the text of a database query
	Shell       // a command line for a shell
	Markup      // HTML
	FileName
	URL
)

// Destination returns the sink that a text reaches, by the syntax and types of the function that
// builds it: directly, in a larger text, or through local variables, buffers and slices. A text
// that leaves the function is judged by its constant parts.
func Destination(p *gocode.Place, text ast.Expr) Sink {
	if p.Decl == nil {
		return NoSink
	}
	t := travel{place: p.Outer(), seen: map[types.Object]bool{}}
	if v := syntax.LocalVar(p, text); v != nil {
		t.variable(v)
	} else {
		t.value(text)
	}
	for _, s := range []Sink{Query, Shell, Markup, FileName, URL} {
		if slices.Contains(t.sinks, s) && (s == Query || hasText(p, text)) && (s != Markup || t.promised || reads(p, text, Markup)) {
			return s
		}
	}
	if t.leaves && reads(p, text, Query) {
		return Query
	}
	return NoSink
}

// DestinationOf is [Destination] for calls: the first sink that the text of one of them reaches.
func DestinationOf(p *gocode.Place, calls []*ast.CallExpr) Sink {
	for _, call := range calls {
		if s := Destination(p, call); s != NoSink {
			return s
		}
	}
	return NoSink
}

// Advise returns the right fix for a text that reaches the sink, given the fix that makes building
// the text faster: another fix for queries and shells, the given one with a caution for the others.
func (s Sink) Advise(fix string) string {
	switch s {
	case Query:
		return "Put a placeholder into the query (? or $1, as the driver writes it) and pass the value as an argument: the text is then constant, it can be prepared once, and no value can change the query (SQL injection), which a concatenation would not prevent. Take names of tables and columns, which cannot be arguments, from constants."
	case Shell:
		return "Run the program itself with separate arguments (exec.Command(name, arg, …)), not a shell: there is no text to build and no second process, and no value is read as a command."
	case Markup:
		return fix + " Neither form escapes: pass each value from outside through html.EscapeString, or render with html/template."
	case FileName:
		return fix + " A part from outside must not lead out of the directory: check it with filepath.IsLocal, or open the file with os.OpenInRoot."
	case URL:
		return fix + " Neither form escapes: pass each part from outside through url.PathEscape or url.QueryEscape."
	}
	return fix
}

// travel follows a text through a function.
type travel struct {
	place *gocode.Place
	seen  map[types.Object]bool
	sinks []Sink
	// it is converted to a type that html/template does not escape
	promised bool
	leaves   bool // it is returned, stored or passed to an unknown function
}

// value follows the uses of an expression.
func (t *travel) value(e ast.Expr) {
	var child ast.Node = e
	for _, parent := range t.place.Enclosing(e) {
		switch n := parent.(type) {
		case *ast.ParenExpr, *ast.KeyValueExpr, *ast.CompositeLit:
		case *ast.BinaryExpr:
			if n.Op != token.ADD {
				return // compared
			}
		case *ast.CallExpr:
			if !t.passes(n, child) {
				return
			}
		case *ast.AssignStmt, *ast.ValueSpec:
			t.assigned(child.(ast.Expr))
			return
		case *ast.ReturnStmt, *ast.SendStmt:
			t.leaves = true
			return
		default:
			return
		}
		child = parent
	}
}

// assigned follows a value into the variable that it is assigned to.
func (t *travel) assigned(e ast.Expr) {
	to := syntax.AssignedTo(t.place, e)
	if to == nil {
		return
	}
	if v := syntax.LocalVar(t.place, to); v != nil {
		t.variable(v)
	} else if id, ok := to.(*ast.Ident); !ok || id.Name != "_" {
		t.leaves = true
	}
}

// variable follows the uses of a local variable, or of a buffer with the value in it.
func (t *travel) variable(v *types.Var) {
	if t.seen[v] {
		return
	}
	t.seen[v] = true
	t.leaves = t.leaves || syntax.IsResult(t.place, v)
	for _, id := range syntax.Reads(t.place, v) {
		t.value(id)
		sel, ok := syntax.Parent(t.place, id).(*ast.SelectorExpr)
		if !ok {
			continue
		}
		if call, ok := syntax.Parent(t.place, sel).(*ast.CallExpr); ok && call.Fun == sel && (sel.Sel.Name == "String" || sel.Sel.Name == "Bytes") {
			t.value(call)
		}
	}
}

// passes records what a call does with a value. It reports true when the result holds the value and
// is to be followed.
func (t *travel) passes(call *ast.CallExpr, value ast.Node) bool {
	p := t.place
	if to, ok := p.Conversion(call); ok {
		if markupType(to) {
			t.sinks, t.promised = append(t.sinks, Markup), true
		}
		return true
	}
	index := slices.IndexFunc(call.Args, func(a ast.Expr) bool { return a == value })
	if index < 0 {
		return false // called, not passed
	}
	if s := sinkOf(p, call, index); s != NoSink {
		t.sinks = append(t.sinks, s)
		return false
	}
	name := p.CalleeName(call)
	if w := writtenTo(p, call, name, index); w != nil {
		if v := syntax.LocalVar(p, w); v != nil {
			t.variable(v)
		}
		return false
	}
	switch {
	case funcname.Match(name, "append", "fmt.Sprint*", "fmt.Append*", "strings.*", "bytes.*", "strconv.Append*", "path.Join", "path/filepath.Join", "(*strings.Replacer).Replace"):
		return true
	case funcname.Match(name, "len", "cap", "copy", "print*", "log.*", "(*log.*", "log/slog.*", "(*log/slog.*", "errors.New", "fmt.Errorf", "(*testing.*"):
		return false
	}
	t.leaves = true
	return false
}

// writtenTo returns the destination that a call writes a value to: the receiver of a Write or
// WriteString, the first argument of fmt.Fprint and io.WriteString, without its &.
func writtenTo(p *gocode.Place, call *ast.CallExpr, name string, index int) ast.Expr {
	var w ast.Expr
	switch {
	case funcname.Match(name, "fmt.Fprint*", "io.WriteString") && index > 0:
		w = call.Args[0]
	case strings.HasSuffix(name, ").Write"), strings.HasSuffix(name, ").WriteString"):
		w = syntax.Receiver(call)
	}
	if u, ok := w.(*ast.UnaryExpr); ok && u.Op == token.AND {
		return u.X
	}
	return w
}
