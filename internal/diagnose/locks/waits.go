package locks

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/site"
)

// Wait is something between Lock and Unlock that waits, by its syntax or name, for something
// outside of the program: a channel, a sleep, a file, a connection, a database.
type Wait struct {
	Line int
	For  string // the function that waits, as code names it; "" for a channel
	in   string // the function of the package that calls it, where the section itself does not
}

// Waits returns the waits in a section, in the order of the source. It searches functions of the
// package that the section calls, but not functions that those call.
func (s *Section) Waits() []Wait {
	var found []Wait
	own(s.place, func(n ast.Node) {
		if n.Pos() < s.Lock.End() || n.Pos() >= s.end {
			return
		}
		line := syntax.Line(s.place, n.Pos())
		switch n := n.(type) {
		case *ast.SendStmt, *ast.SelectStmt:
			found = append(found, Wait{Line: line})
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				found = append(found, Wait{Line: line})
			}
		case *ast.CallExpr:
			if name := s.place.CalleeName(n); outside(name) {
				found = append(found, Wait{Line: line, For: name})
			} else if name := s.waitsBelow(n); name != "" {
				found = append(found, Wait{Line: line, For: name, in: s.place.Callee(n).Name()})
			}
		}
	})
	return found
}

// outside reports whether a function asks something outside of the program.
func outside(name string) bool {
	return funcname.Match(name, "time.Sleep", "os.*", "(*os.File).*", "net.*", "(net.Conn).*", "net/http.*",
		"(*net/http.Client).*", "(*database/sql.*", "(*bufio.Writer).Flush", "io.Copy*", "io.ReadAll", "(*os/exec.Cmd).*") &&
		!funcname.Match(name, "os.Getenv", "os.Getpid", "net.Parse*", "net.Join*", "net.Split*", "net/http.StatusText", "net/http.Error", "net/http.Canonical*")
}

// waitsBelow returns the first function outside of the program that a function of the package
// calls; "" for none.
func (s *Section) waitsBelow(call *ast.CallExpr) (name string) {
	decl := s.place.Declaration(s.place.Callee(call))
	if decl == nil || decl.Body == nil {
		return ""
	}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.GoStmt:
			return false
		case *ast.CallExpr:
			if callee := s.place.CalleeName(n); name == "" && outside(callee) {
				name = callee
			}
		}
		return name == ""
	})
	return name
}

// leastSeen is the minimum number of samples that show a wait below a section.
const leastSeen = 3

// seen returns the wait that most samples of CPU and blocking show below the lines of a section in
// a file: calls of function values and interfaces, and what is deeper than source is searched.
func (s *Section) seen(p *rule.Pass, file string) []Wait {
	_, whole := s.place.Func.(*ast.FuncDecl)
	samples := map[Wait]int64{}
	var most Wait
	visit := func(r *site.Row) {
		at := len(r.Stack) - 1
		for ; at >= 0; at-- {
			// A literal in the section, of a go statement, is not part of it.
			f := r.Stack[at]
			if f.File == file && f.Line >= s.From && f.Line <= s.To && !(whole && strings.Contains(f.Function, ".func")) {
				break
			}
		}
		for i := at - 1; i >= 0; i-- {
			if name := funcname.Typed(r.Stack[i].Function); funcname.Match(name, "(*os.File).*", "(*net.conn).Read", "(*net.conn).Write",
				"(*net.Dialer).Dial*", "(*net/http.Client).*", "(*net/http.Transport).RoundTrip", "(*database/sql.*", "(*os/exec.Cmd).*") {
				w := Wait{Line: r.Stack[at].Line, For: name}
				if i+1 < at {
					in := r.Stack[i+1].Function
					w.in = in[strings.LastIndex(in, ".")+1:]
				}
				if samples[w] += r.Count; samples[w] > samples[most] {
					most = w
				}
				return
			}
		}
	}
	p.EachRow(visit)
	for _, other := range p.Table.Sites {
		for _, r := range other.Block {
			visit(r)
		}
	}
	if samples[most] < leastSeen {
		return nil
	}
	return []Wait{most}
}

// Outside says what a section waits for outside of the program, and what to do about it; false if
// it waits for nothing, as far as the samples below it and its source show. Of several waits it
// chooses one that forces data to the disk, otherwise what most samples show, otherwise the first.
func (s *Section) Outside(p *rule.Pass, file string) (cause, fix string, ok bool) {
	waits := s.Waits()
	if p != nil {
		waits = append(s.seen(p, file), waits...)
	}
	if len(waits) == 0 {
		return "", "", false
	}
	w := waits[0]
	for _, other := range waits {
		if other.syncs() && !w.syncs() {
			w = other
		}
	}
	mutex := syntax.Text(s.Mutex)
	through := ""
	if w.in != "" {
		through = ", called by " + w.in
	}
	switch {
	case w.syncs():
		return fmt.Sprintf(" Line %d forces each entry to the disk separately while it is held (%s%s): one fsync for each goroutine that queues.", w.Line, funcname.Short(w.For), through),
			fmt.Sprintf("Commit in groups: append entries under %s, let one goroutine write and fsync all that have accumulated, and wake the goroutines that wait for them.", mutex), true
	case w.For == "":
		return fmt.Sprintf(" Line %d waits for a channel meanwhile.", w.Line),
			fmt.Sprintf("Do not wait with %s held: copy what line %d needs, unlock, then wait.", mutex, w.Line), true
	}
	return fmt.Sprintf(" Line %d waits meanwhile for something outside of the program, in %s%s.", w.Line, funcname.Short(w.For), through),
		fmt.Sprintf("Do not wait with %s held: copy what line %d needs, unlock, then wait.", mutex, w.Line), true
}

func (w Wait) syncs() bool { return strings.HasSuffix(w.For, "os.File).Sync") }
