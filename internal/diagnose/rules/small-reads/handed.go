package smallreads

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

// handed finds files and connections that the program hands over to code which reads them in small
// pieces: to another module, or to a reader of its own that only passes reads on.
type handed struct {
	pass *rule.Pass
	// to has what is handed over, by the packages that read it.
	to    map[string][]*handover
	cheap map[site.Frame]bool
	// lines has the rows of a line that hands over, of which the first match takes all.
	lines map[site.Frame][]*site.Row
}

// handover is a call that passes a file or a connection.
type handover struct {
	frame site.Frame
	place *gocode.Place
	call  *ast.CallExpr
	what  ast.Expr
}

// handedOver returns the line that finds files handed over.
func handedOver(p *rule.Pass) []finder.Line {
	if p.Syntax == nil {
		return nil
	}
	h := newHanded(p)
	p.EachRow(func(r *site.Row) {
		if i := h.caller(r); i > r.Owner {
			if to := h.over(r, i); to != nil {
				h.lines[to.frame] = append(h.lines[to.frame], r)
			}
		}
	})
	return []finder.Line{{Start: finder.Frames(h.caller), Judge: h.judge}}
}

func newHanded(p *rule.Pass) *handed {
	return &handed{pass: p, to: map[string][]*handover{}, cheap: map[site.Frame]bool{}, lines: map[site.Frame][]*site.Row{}}
}

// caller returns the index of the main module's frame for which a row reads a small piece, -1 for
// none.
func (h *handed) caller(r *site.Row) int {
	if r.Owner < 0 || !reaches(r) {
		return -1
	}
	i, own := r.Owner, r.Stack[r.Owner]
	for i < len(r.Stack) && r.Stack[i].Owner.Kind != gocode.Main {
		i++
	}
	if i == len(r.Stack) {
		return -1
	}
	switch piece := pieceOf(h.pass.Syntax, r); {
	case piece.small:
		if i == r.Owner && piece.at == r.Owner {
			return -1 // what this line reads is known there
		}
	case piece.large, !h.cheaply(own), slices.ContainsFunc(r.Stack[r.Owner:i], buffers):
		return -1
	}
	return i
}

// buffers reports whether a frame reads into a buffer of its own.
func buffers(f *site.Frame) bool {
	return funcname.Match(f.Function, "bufio.*", "io.copyBuffer", "io.ReadAll", "bytes.(*Buffer).ReadFrom")
}

// cheaply reports whether a line that only reads costs so little each time that it reads little.
func (h *handed) cheaply(f *site.Frame) bool {
	is, seen := h.cheap[*f]
	if !seen {
		s := h.pass.Site(f)
		is = little(h.pass, f, stacks.Select(s.CPU, reaches))
		h.cheap[*f] = is
	}
	return is
}

// mostCost is what a read of some tens of bytes from a file may take, in seconds of CPU. One of a
// page takes little more: it is the number of reads that makes whole pages improbable.
const mostCost = 0.7e-6

// many returns the minimum number of reads for each unit of work of which cost shows the size: in
// pages, they would be hundreds of megabytes in a run, or more than a megabyte in a request.
func many(p *rule.Pass) float64 {
	if p.Manifest.Unit() == "run" {
		return 50_000
	}
	return 300
}

// little reports whether reads of a line are small as far as their cost shows. That of reading from
// a connection says little.
func little(p *rule.Pass, f *site.Frame, rows []*site.Row) bool {
	if slices.ContainsFunc(rows, func(r *site.Row) bool { return r.Below("net.(*conn).Read") }) {
		return false
	}
	e, ok := evidence.Executions(p, *f)
	return ok && e.PerUnit >= many(p) && evidence.Cheaper(p, *f, rows, mostCost)
}

func (h *handed) judge(c *finder.Case) bool {
	row := stacks.Largest(c.CPU)
	if row == nil {
		return false
	}
	reader := row.Stack[row.Owner]
	c.Callees = inlets
	if !pieceOf(h.pass.Syntax, row).small {
		c.Confidence = rule.Likely // by what the reads cost
	}
	through := symbol.Short(funcname.Typed(reader.Function))
	if reader.Owner.Kind == gocode.Main {
		calls := slices.DeleteFunc(syntax.Calls(c.Place), func(call *ast.CallExpr) bool {
			return !readsInto(c.Place, call) || parameter(c.Place, buffer(c.Place, call)) < 0
		})
		if len(calls) == 0 || c.Site.Line != reader.Line {
			return false
		}
		c.Cause = fmt.Sprintf("%s passes on %s from a file or connection: a system call each time.", syntax.Text(calls[0].Fun), h.readings(row))
		c.Fix = "Put one bufio.Reader around the file or connection, below this reader, where it is created" + h.created(c.Place, calls[0]) + "."
		return true
	}
	to := h.over(row, slices.Index(row.Stack, h.frameOf(row)))
	if to == nil || len(h.lines[to.frame]) == 0 {
		return false
	}
	c.CPU, c.Site = h.lines[to.frame], h.pass.Site(&to.frame)
	h.lines[to.frame] = nil
	spent, samples := stacks.Sum(c.CPU)
	c.Cause = fmt.Sprintf("%s gets %s itself, and %s makes %s from it: a system call each time.", symbol.Short(to.place.CalleeName(to.call)), syntax.Text(to.what), through, h.readings(row))
	c.Fix = fmt.Sprintf("Pass bufio.NewReader(%s) instead, and read everything else of it through the same buffer.", syntax.Text(to.what))
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:    "CPU in these reads",
		Value:   fmt.Sprintf("%s (%s)", units.Seconds(float64(spent)/1e9), units.Some(float64(samples), "sample")),
		Command: evidence.ListCommand(h.pass, "cpu", reader.Function),
	})
	return true
}

// frameOf returns the main module's frame of a row that is known to have one.
func (h *handed) frameOf(r *site.Row) *site.Frame { return r.Stack[h.caller(r)] }

// readings describes the reads of a row: "8,851,399 reads of 1 byte per run".
func (h *handed) readings(r *site.Row) string {
	text := "small reads"
	if piece := pieceOf(h.pass.Syntax, r); piece.small {
		text = "reads of " + units.Some(float64(piece.size), "byte")
	}
	if e, ok := evidence.Executions(h.pass, *r.Stack[r.Owner]); ok && e.PerUnit >= 2 {
		text = fmt.Sprintf("%s %s per %s", units.Count(int64(e.PerUnit+0.5)), text, h.pass.Manifest.Unit())
	}
	return text
}

// created names the line that gives a reader its file: " (line 12)"; "" when it is not known.
func (h *handed) created(p *gocode.Place, call *ast.CallExpr) string {
	from := flow.Sources(h.pass.Syntax, p, source(p, call))
	if len(from) != 1 || from[0].Place == p || !unbuffered(h.pass.Syntax, from[0].Place, from[0].Value) {
		return ""
	}
	return " (" + syntax.Where(from[0].Place, from[0].Value.Pos()) + ")"
}

// over returns the call that hands the file over to the modules between a frame and the read, one
// in a function of the stack if there are several; nil if the source does not show it.
func (h *handed) over(r *site.Row, i int) *handover {
	if i <= r.Owner {
		return nil
	}
	pkgs := map[string]bool{}
	for _, f := range r.Stack[r.Owner:i] {
		if f.Owner.Kind == gocode.Dependency {
			pkgs[f.Owner.Package] = true
		}
	}
	names := make([]string, 0, len(pkgs))
	for name := range pkgs {
		names = append(names, name)
	}
	slices.Sort(names)
	key := strings.Join(names, " ")
	found, seen := h.to[key]
	if !seen {
		found = h.search(pkgs)
		h.to[key] = found
	}
	for _, to := range found {
		if slices.ContainsFunc(r.Stack[i:], func(f *site.Frame) bool { return f.Function == to.frame.Function }) {
			return to
		}
	}
	if len(found) == 0 {
		return nil
	}
	return found[0]
}

// search returns the calls of the main module that pass a file or a connection for a reader to a
// function of some packages.
func (h *handed) search(pkgs map[string]bool) (found []*handover) {
	takes := func(fn *types.Func) bool { return fn.Pkg() != nil && pkgs[fn.Pkg().Path()] }
	for _, place := range h.pass.Syntax.Calls(takes) {
		for _, call := range place.Calls() {
			fn := place.Callee(call)
			if fn == nil || !takes(fn) {
				continue
			}
			sig := fn.Signature()
			for i, arg := range call.Args {
				if i < sig.Params().Len() && replaceable(sig.Params().At(i).Type()) && unbuffered(h.pass.Syntax, place, arg) {
					found = append(found, &handover{h.frame(place, call), place, call, arg})
				}
			}
		}
	}
	return found
}

// frame returns the frame of a call as a stack would have it.
func (h *handed) frame(p *gocode.Place, call *ast.CallExpr) site.Frame {
	at := p.Fset.Position(call.Pos())
	f := site.Frame{Function: syntax.ProfileName(p), File: at.Filename, Line: at.Line}
	for _, s := range h.pass.Table.Sites {
		if s.Line == f.Line && s.File == f.File {
			return s.Frame
		}
	}
	f.Owner = h.pass.Code.Owner(f.Function, f.File)
	return f
}
