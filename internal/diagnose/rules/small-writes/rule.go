// Package smallwrites finds loops that write piece by piece to a file or connection.
package smallwrites

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
)

// Rule is small-writes.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "small-writes",
		Kind:  rule.IO,
		Title: "Loop writes piece by piece, a system call each",
		Doc:   doc,
		Finder: finder.Patterns{
			Claim: rule.Claim{
				// The rows are the write calls. A line of 50 bytes fits 80 times into a buffer of 4
				// KiB, so nearly all of the calls go; copying the bytes to the kernel remains.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.7, High: 1},
				Specificity: 1,
			},
			Lines: []finder.Line{{Start: writing(), Judge: judge}, {Start: executing(), Judge: judgeTemplate}},
		},
	}
}

// writing starts from calls that write one piece.
func writing() finder.Calls {
	return finder.Calls{
		Functions: append([]string{
			"fmt.Fprint*", "fmt.Print*", "io.WriteString", "encoding/json.(*Encoder).Encode", "encoding/gob.(*Encoder).Encode",
			"encoding/binary.Write", "net.(*TCPConn).Write", "net.(*UnixConn).Write",
		}, outlets...),
		Types: []string{
			"fmt.Fprint*", "fmt.Print*", "io.WriteString", "(*encoding/json.Encoder).Encode", "(*encoding/gob.Encoder).Encode",
			"encoding/binary.Write", "(io.Writer).Write", "(io.StringWriter).WriteString",
			"(*os.File).Write", "(*os.File).WriteString", "(net.Conn).Write", "(*net.conn).Write",
		},
		Keep: stacks.Reaches([]string{"fmt.", "io.", "os.", "net.", "encoding/"}, outlets...),
	}
}

// executing starts from templates, which write each text and each value by itself.
func executing() finder.Calls {
	return finder.Calls{
		Functions: []string{"text/template.(*Template).Execute*", "html/template.(*Template).Execute*"},
		Keep:      stacks.Reaches([]string{"fmt.", "io.", "os.", "net.", "text/template.", "html/template."}, outlets...),
	}
}

func judgeTemplate(c *finder.Case) bool {
	c.Callees = outlets
	c.Cause = fmt.Sprintf("%s writes directly to %s: a system call for each text and each value of the template.", funcname.Short(c.Name()), syntax.Text(c.Calls[0].Args[0]))
	c.Fix = "Execute it into a bufio.Writer, call Flush afterwards and check its error."
	return true
}

const doc = `fmt.Fprintf to an *os.File or a net.Conn makes a system call for every piece:
half a microsecond and more, and perhaps a packet on a connection, while copying
a line into a buffer takes ten nanoseconds.

Put a bufio.Writer in front, call Flush after the loop and check its error. A
template writes piece by piece as well.

It is fine for interactive output, and where a crash must not lose a line. The
rule leaves alone loops that wait between iterations (channels, reads, sleeps),
writers that the loop creates, and pieces that may be large.

Seen in the field: segmentio/parquet-go#157, dmachard/DNS-collector#1125.`

// outlets are the functions of the standard library that end in write(2), send(2) and the like.
var outlets = []string{"os.(*File).Write", "os.(*File).WriteString", "net.(*conn).Write"}

func judge(c *finder.Case) bool {
	var loop ast.Node
	in := ""
	ok := c.All(func(call *ast.CallExpr) bool {
		if !small(c.Place, call) {
			return false
		}
		if loop = loops.Repeating(c.Place, call); loop == nil {
			loop = loops.Each(c.Place)
		}
		if loop == nil {
			loop, in = above(c, call)
			return loop != nil
		}
		return !loops.Waits(c.Place, loop) && outside(c.Place, loop, call)
	})
	if !ok {
		return false
	}
	spent, samples := stacks.Sum(c.CPU)
	c.Callees = outlets
	c.Cause = fmt.Sprintf("The loop on line %d%s writes directly to %s: a system call for each piece.", syntax.Line(c.Place, loop.Pos()), in, writerText(c.Place, c.Calls[0]))
	c.Fix = "Write through a bufio.Writer and call Flush after the loop, checking its error."
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:    "CPU in the write calls of this line",
		Value:   fmt.Sprintf("%s (%s)", units.Seconds(float64(spent)/1e9), units.Some(float64(samples), "sample")),
		Command: evidence.ListCommand(c.Pass, "cpu", c.Site.Function),
	})
	return true
}

// mostFrames is the number of callers in which the loop is searched.
const mostFrames = 3

// above returns the loop of a caller that calls the function around a call again and again, for the
// same writer, and the words for where it is; nil for none. The caller is that of the row that
// costs most.
func above(c *finder.Case, call *ast.CallExpr) (ast.Node, string) {
	row := stacks.Largest(c.CPU)
	if row == nil {
		return nil, ""
	}
	at, w := c.Place, writer(c.Place, call)
	for i := row.Owner + 1; i < len(row.Stack) && i <= row.Owner+mostFrames; i++ {
		f := row.Stack[i]
		place, ok := c.Pass.Syntax.At(f.File, f.Line)
		if !ok || f.Owner.Kind != gocode.Main {
			return nil, ""
		}
		up := flow.CallAbove(at, place)
		if up == nil || !follow(at, up, &w) {
			return nil, ""
		}
		if around := loops.Around(place, up); len(around) > 0 {
			loop := around[0]
			if loops.AtMost(place, loop, up, 2) || loops.Waits(place, loop) || w != nil && !loops.FromOutside(place, loop, w) {
				return nil, ""
			}
			return loop, fmt.Sprintf(" in %s, through %s,", syntax.FuncName(place), syntax.FuncName(at))
		}
		at = place
	}
	return nil, ""
}

// follow replaces a writer by what a call passes for it, and reports whether the caller has it: it
// is standard output, a parameter, a part of the receiver, or a package variable.
func follow(p *gocode.Place, call *ast.CallExpr, w *ast.Expr) bool {
	if *w == nil {
		return true
	}
	v, _ := syntax.Var(p, *w)
	if v == nil {
		return false
	}
	if !syntax.Local(p, v) {
		return true
	}
	given := flow.ArgumentFor(p, call, v)
	*w = given
	return given != nil
}

// writer returns the expression that a call writes to; nil for standard output.
func writer(p *gocode.Place, call *ast.CallExpr) ast.Expr {
	switch name := p.CalleeName(call); {
	case strings.HasPrefix(name, "fmt.Print"):
		return nil
	case strings.HasPrefix(name, "fmt.Fprint"), name == "io.WriteString", name == "encoding/binary.Write":
		return call.Args[0]
	case strings.HasSuffix(name, ".Encoder).Encode"):
		if made, ok := syntax.Origin(p, syntax.Receiver(call)).(*ast.CallExpr); ok && len(made.Args) == 1 {
			return made.Args[0]
		}
	}
	return syntax.Receiver(call)
}

func writerText(p *gocode.Place, call *ast.CallExpr) string {
	if w := writer(p, call); w != nil {
		return syntax.Text(w)
	}
	return "standard output"
}

// outside reports whether the writer is the same in every iteration.
func outside(p *gocode.Place, loop ast.Node, call *ast.CallExpr) bool {
	w := writer(p, call)
	return w == nil || loops.FromOutside(p, loop, w)
}

// small reports whether a piece is small as far as the syntax shows: a formatted text, a string, or
// a slice of known small length. A byte slice of unknown length may be a whole file.
func small(p *gocode.Place, call *ast.CallExpr) bool {
	if !strings.HasSuffix(p.CalleeName(call), ").Write") {
		return true
	}
	piece := pieces{p: p, at: call}
	return piece.short(call.Args[0], nil, mostSteps)
}

// mostSteps is how many variables a piece is followed through.
const mostSteps = 3

// large is the number of bytes from which on a system call is a small part of a piece's cost.
const large = 4096

// pieces judges the slices of bytes that a call writes.
type pieces struct {
	p  *gocode.Place
	at ast.Node // the call
}

// short reports whether a slice of bytes has at most the size of a line: a literal, a part of a
// small array, a converted string, a formatted text, or a variable that is only assigned such. of
// is the variable that is assigned the slice; nil for none.
func (w pieces) short(piece ast.Expr, of *types.Var, steps int) bool {
	p := w.p
	switch e := syntax.Origin(p, piece).(type) {
	case *ast.CompositeLit:
		return true
	case *ast.SliceExpr:
		if e.High != nil {
			if high, ok := syntax.ConstInt(p, e.High); ok {
				return high < large
			}
		}
		if syntax.IsArray(p, e.X) {
			array, ok := p.TypeOf(e.X).Underlying().(*types.Array)
			return ok && array.Len() < large
		}
		return steps > 0 && w.short(e.X, of, steps-1)
	case *ast.Ident:
		v := syntax.LocalVar(p, e)
		if v == nil || syntax.Param(p, v) || steps == 0 {
			return false
		}
		if v == of { // grows once for each piece, if at all
			return len(loops.Around(p, e)) <= len(loops.Around(p, w.at))
		}
		values := syntax.Assigned(p, v)
		for _, value := range values {
			if !w.short(value, v, steps-1) {
				return false
			}
		}
		return len(values) > 0
	case *ast.CallExpr:
		return w.result(e, of, steps)
	}
	return false
}

// result is short for the result of a call.
func (w pieces) result(made *ast.CallExpr, of *types.Var, steps int) bool {
	p := w.p
	if _, ok := p.Conversion(made); ok && len(made.Args) == 1 {
		return syntax.IsString(p, made.Args[0])
	}
	switch name := p.CalleeName(made); {
	case name == "make" && len(made.Args) > 1:
		n, ok := p.Const(made.Args[1])
		return ok && constant.Compare(n, token.LSS, constant.MakeInt64(large))
	case name == "encoding/json.Marshal":
		return true
	case name == "append" && made.Ellipsis.IsValid() && !syntax.IsString(p, made.Args[1]):
		return false // another slice of unknown length
	case name == "append", funcname.Match(name, "fmt.Append*", "strconv.Append*", "(time.Time).AppendFormat", "(encoding/binary.*Endian).AppendUint*"):
		if tv, ok := p.Info.Types[made.Args[0]]; ok && tv.IsNil() {
			return true
		}
		for _, arg := range made.Args { // binary.BigEndian.AppendUint32(b, n)
			if t, ok := p.TypeOf(arg).Underlying().(*types.Slice); ok && types.Identical(t.Elem(), types.Typ[types.Uint8]) {
				return w.short(arg, of, steps)
			}
		}
		return true
	}
	return false
}
