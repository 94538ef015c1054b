package smallreads

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// reaches reports whether the charged line of a row reads, with nothing but what passes reads on
// in between.
var reaches = stacks.Reaches([]string{"fmt.", "io.", "os.", "net.", "encoding/binary."}, append([]string{"os.(*File).ReadAt"}, inlets...)...)

// piece is how much a row reads at a time.
type piece struct {
	size         int64
	at           int  // the frame that determines it
	small, large bool // neither: not known
}

// mostFrames is the number of callers through which a buffer is followed.
const mostFrames = 8

// pieceOf follows the buffer that a row reads into from the system call up to the frame that
// determines its length.
func pieceOf(s *gocode.Syntax, r *site.Row) piece {
	i := slices.IndexFunc(r.Stack, func(f *site.Frame) bool {
		return funcname.Match(f.Function, inlets...) || f.Function == "os.(*File).ReadAt"
	})
	if i < 0 {
		return piece{}
	}
	arg := 0
	for j := i + 1; j < len(r.Stack) && j <= i+mostFrames; j++ {
		f := r.Stack[j]
		if f.Owner.Kind == gocode.Std {
			switch {
			case funcname.Match(f.Function, "io.ReadFull", "io.ReadAtLeast"):
				arg = 1
			case funcname.Match(f.Function, "io.(*LimitedReader).Read", "io.(*teeReader).Read", "io.(*SectionReader).Read", "io.(*multiReader).Read"):
				arg = 0
			case funcname.Match(f.Function, "fmt.*"):
				return piece{size: 1, at: j, small: true}
			case funcname.Match(f.Function, "encoding/binary.Read"):
				arg = -1
			default:
				return piece{large: true} // into a buffer of its own
			}
			continue
		}
		p, ok := s.At(f.File, f.Line)
		if !ok {
			return piece{}
		}
		call := loops.CallTo(p, r.Stack[j-1].Function)
		if call == nil || arg >= len(call.Args) {
			return piece{}
		}
		n := int64(0)
		if arg < 0 {
			n = fixed(p.TypeOf(call.Args[len(call.Args)-1]))
		} else if n = length(s, p, call.Args[arg]); n == 0 && single(p, call) {
			n = 1
		}
		if n > 0 || arg < 0 {
			return piece{size: n, at: j, small: n > 0 && n <= few, large: n > few}
		}
		buf := call.Args[arg]
		if arg = parameter(p, buf); arg < 0 {
			return piece{large: rest(buf)}
		}
	}
	return piece{}
}

// single reports whether a call of Read in a method ReadByte is for each byte: under no condition,
// which would be that a buffer is empty.
func single(p *gocode.Place, call *ast.CallExpr) bool {
	if p.Decl == nil || p.Func != ast.Node(p.Decl) || p.Decl.Recv == nil || p.Decl.Name.Name != "ReadByte" {
		return false
	}
	return !slices.ContainsFunc(p.Enclosing(call), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			return syntax.Within(n.Body, call) || n.Else != nil && syntax.Within(n.Else, call)
		case *ast.ForStmt:
			return n.Cond != nil
		case *ast.RangeStmt, *ast.CaseClause:
			return true
		}
		return false
	})
}

// parameter returns the index of the parameter that a buffer is, or of which it is a part; -1 for
// another value.
func parameter(p *gocode.Place, e ast.Expr) int {
	e = ast.Unparen(e)
	for {
		part, ok := e.(*ast.SliceExpr)
		if !ok {
			break
		}
		e = ast.Unparen(part.X)
	}
	v := syntax.LocalVar(p, e)
	if v == nil || p.Decl == nil || p.Func != ast.Node(p.Decl) {
		return -1
	}
	for _, value := range syntax.Assigned(p, v) { // p = p[:n] makes it shorter
		part, ok := ast.Unparen(value).(*ast.SliceExpr)
		if !ok || syntax.LocalVar(p, part.X) != v {
			return -1
		}
	}
	return syntax.ParamIndex(syntax.SignatureOf(p), v)
}

// rest reports whether a buffer is the free part of a larger one, which a read fills.
func rest(e ast.Expr) bool {
	part, ok := ast.Unparen(e).(*ast.SliceExpr)
	return ok && part.High == nil
}

// readsInto reports whether a call reads into a buffer that it is given.
func readsInto(p *gocode.Place, call *ast.CallExpr) bool {
	fn := p.Callee(call)
	if fn == nil {
		return false
	}
	return funcname.Match(fn.FullName(), "io.ReadFull", "io.ReadAtLeast") || fn.Name() == "Read" && fn.Signature().Recv() != nil
}

// source returns what a call reads from.
func source(p *gocode.Place, call *ast.CallExpr) ast.Expr {
	if funcname.Match(p.CalleeName(call), "io.ReadFull", "io.ReadAtLeast") {
		return call.Args[0]
	}
	return syntax.Receiver(call)
}

// methods are those of a bufio.Reader.
var methods = map[string]bool{"Read": true, "ReadByte": true, "UnreadByte": true, "ReadRune": true, "UnreadRune": true, "WriteTo": true, "Peek": true, "Discard": true, "ReadString": true}

// replaceable reports whether a bufio.Reader can be passed for a parameter.
func replaceable(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	if !ok || i.NumMethods() == 0 {
		return false
	}
	for m := range i.Methods() {
		if !methods[m.Name()] {
			return false
		}
	}
	return true
}

// unbuffered reports whether an expression is a file or a connection, or a wrapper of the standard
// library or of the program around one, as far as the source shows.
func unbuffered(s *gocode.Syntax, p *gocode.Place, e ast.Expr) bool {
	if opened(p, e) {
		return true
	}
	return slices.ContainsFunc(flow.Sources(s, p, e), func(from flow.Argument) bool {
		if opened(from.Place, from.Value) {
			return true
		}
		v := syntax.Origin(from.Place, from.Value)
		if u, ok := v.(*ast.UnaryExpr); ok {
			v = u.X
		}
		switch v := v.(type) {
		case *ast.CompositeLit:
			return slices.ContainsFunc(v.Elts, func(e ast.Expr) bool {
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					e = kv.Value
				}
				return unbuffered(s, from.Place, e)
			})
		case *ast.CallExpr:
			if funcname.Match(from.CalleeName(v), "io.LimitReader", "io.TeeReader", "io.NopCloser", "io.MultiReader", "io.NewSectionReader") {
				return slices.ContainsFunc(v.Args, func(e ast.Expr) bool { return unbuffered(s, from.Place, e) })
			}
		}
		return false
	})
}

// opened reports whether the type of an expression, or of the first result of a call, is that of a
// file or a connection.
func opened(p *gocode.Place, e ast.Expr) bool {
	t := p.TypeOf(e)
	if results, ok := t.(*types.Tuple); ok && results.Len() > 0 {
		t = results.At(0).Type()
	}
	if t == nil {
		return false
	}
	switch types.TypeString(t, nil) {
	case "*os.File", "net.Conn", "*net.TCPConn", "*net.UnixConn", "io/fs.File":
		return true
	}
	return false
}
