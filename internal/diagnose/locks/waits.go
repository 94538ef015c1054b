package locks

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/caching"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

// Wait is something between Lock and Unlock that waits, by its syntax or name, for something
// outside of the program: a channel, a sleep, a file, a connection, a database.
type Wait struct {
	Line int
	For  string // the function that waits, as code names it; "" for a channel
	in   string // the function of the package that calls it, where the section itself does not
	// given is who passes what the line calls to the section's function; "" for no one.
	given string
}

// Waits returns the waits in a section, in the order of the source: calls outside of the program
// first. It searches functions of the package that the section calls. For waits for channels, it
// also searches those that they call; a trace has to confirm these: see Blocked. Lines that never
// ran while executions were counted wait for nothing; p may be nil.
func (s *Section) Waits(p *rule.Pass) []Wait {
	var calls, channels []Wait
	own(s.place, func(n ast.Node) {
		if n.Pos() < s.start || n.Pos() >= s.end || unused(p, s.place, n.Pos()) {
			return
		}
		line := syntax.Line(s.place, n.Pos())
		if overChannel(s.place, n) {
			channels = append(channels, Wait{Line: line})
		}
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return
		}
		if name := s.place.CalleeName(call); s.asks(name) {
			calls = append(calls, Wait{Line: line, For: name})
			return
		}
		name, channel := s.waitsBelow(p, call, mostCalls, map[*types.Func]bool{})
		switch {
		case name != "":
			calls = append(calls, Wait{Line: line, For: name, in: s.place.Callee(call).Name()})
		case channel:
			channels = append(channels, Wait{Line: line, in: s.place.Callee(call).Name()})
		}
	})
	return append(calls, channels...)
}

// mostCalls is how many calls lie between a section and what waits.
const mostCalls = 3

// overChannel reports whether a node may wait for a channel: a send or a receive outside of the
// cases of a select, a loop over a channel, or a select without a default.
func overChannel(p *gocode.Place, n ast.Node) bool {
	switch n := n.(type) {
	case *ast.SelectStmt:
		return !slices.ContainsFunc(n.Body.List, func(c ast.Stmt) bool { return c.(*ast.CommClause).Comm == nil })
	case *ast.SendStmt:
		return !isCase(p, n)
	case *ast.UnaryExpr:
		return n.Op == token.ARROW && !isCase(p, syntax.Parent(p, n))
	case *ast.RangeStmt:
		t := p.TypeOf(n.X)
		if t == nil {
			return false
		}
		_, ok := t.Underlying().(*types.Chan)
		return ok
	}
	return false
}

// isCase reports whether a statement is the operation of a case of a select.
func isCase(p *gocode.Place, n ast.Node) bool {
	if n == nil {
		return false
	}
	c, ok := syntax.Parent(p, n).(*ast.CommClause)
	return ok && ast.Node(c.Comm) == n
}

// outside reports whether a function asks something outside of the program.
func outside(name string) bool {
	return funcname.Match(name, "time.Sleep", "os.*", "(*os.File).*", "net.*", "(net.Conn).*", "net/http.*",
		"(*net/http.Client).*", "(net/http.Flusher).Flush", "(net/http.ResponseWriter).Write", "(*database/sql.*", "(*bufio.Writer).Flush", "io.Copy*", "io.ReadAll", "(*os/exec.Cmd).*",
		"(*github.com/gorilla/websocket.Conn).Write*", "(*github.com/gorilla/websocket.Conn).Read*", "(*google.golang.org/grpc.ClientConn).*", "(*github.com/redis/go-redis*", "(*github.com/jackc/pgx*") &&
		!funcname.Match(name, "os.Getenv", "os.Getpid", "os.Is*", "net.Parse*", "net.Join*", "net.Split*", "net/http.StatusText", "net/http.Error", "net/http.Canonical*", "net/http.NewRequest*",
			"(net.Conn).Set*", "(net.Conn).LocalAddr", "(net.Conn).RemoteAddr", "(net.Conn).Close", "(*os.File).Name", "(*os.File).Fd", "(*database/sql.DB).Stats", "(*database/sql.DB).Set*")
}

// asks is [outside] without what the section is held for.
func (s *Section) asks(name string) bool { return outside(name) && !s.holder(name) }

// holder reports whether a function belongs to what the section is held for.
func (s *Section) holder(name string) bool { return funcname.Match(name, s.own...) }

// waitsBelow returns the first function outside of the program that a function of the package
// calls. It reports whether that function, or one that it calls, may wait for a channel.
func (s *Section) waitsBelow(p *rule.Pass, call *ast.CallExpr, calls int, seen map[*types.Func]bool) (name string, channel bool) {
	fn := s.place.Callee(call)
	decl := s.place.Declaration(fn)
	if decl == nil || decl.Body == nil || calls == 0 || seen[fn] {
		return "", false
	}
	seen[fn] = true
	in := s.place.Entry(decl)
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.GoStmt:
			return false
		case *ast.CallExpr:
			if name != "" {
				return false
			}
			if callee := s.place.CalleeName(n); s.asks(callee) && !unused(p, in, n.Pos()) {
				name = callee
			} else if _, over := s.waitsBelow(p, n, calls-1, seen); over {
				channel = true
			}
		case ast.Node:
			channel = channel || overChannel(in, n)
		}
		return name == ""
	})
	return name, channel
}

// unused reports whether the code at a position never ran while executions were counted.
func unused(p *rule.Pass, in *gocode.Place, pos token.Pos) bool {
	if p == nil {
		return false
	}
	ran, ok := evidence.ExecutionsAt(p, in, pos)
	return ok && ran.PerUnit == 0
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
				if s.uses(r.Stack[at].Line) || slices.ContainsFunc(r.Stack[i:at], func(f *site.Frame) bool { return s.holder(funcname.Typed(f.Function)) }) {
					return
				}
				w := Wait{Line: r.Stack[at].Line, For: name}
				if i+1 < at {
					w.in, w.given = s.caller(p, r.Stack[i+1:at])
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

// caller names the function that waits, of the frames between it and the section: the nearest one
// of the program with its line, or of another module. given is who passes the function that the
// section calls, if that is a literal of another function.
func (s *Section) caller(p *rule.Pass, frames []*site.Frame) (in, given string) {
	i := slices.IndexFunc(frames, ofMain)
	if i < 0 {
		if i = slices.IndexFunc(frames, func(f *site.Frame) bool { return f.Owner.Kind != gocode.Std }); i < 0 {
			return "", ""
		}
		name := frames[i].Function
		return name[strings.LastIndex(name, ".")+1:], ""
	}
	last := len(frames) - 1
	for !ofMain(frames[last]) {
		last--
	}
	return named(p, frames[i]), s.giver(p, frames[last])
}

// named returns a frame of the program in words, with its line.
func named(p *rule.Pass, f *site.Frame) string {
	where := fmt.Sprintf(" (%s:%d)", base(f.File), f.Line)
	if at, ok := p.Syntax.At(f.File, f.Line); ok && at.Decl != nil {
		if _, literal := at.Func.(*ast.FuncLit); literal {
			return "a function in " + at.Decl.Name.Name + where
		}
		return at.Decl.Name.Name + where
	}
	return f.Function[strings.LastIndex(f.Function, ".")+1:] + where
}

// giver returns who passes the function of a frame to the section, if that is a literal of another
// function; "" otherwise.
func (s *Section) giver(p *rule.Pass, f *site.Frame) string {
	at, ok := p.Syntax.At(f.File, f.Line)
	if !ok || at.Decl == nil || at.Decl == s.place.Decl {
		return ""
	}
	lit, ok := at.Func.(*ast.FuncLit)
	if !ok {
		return ""
	}
	return at.Decl.Name.Name + " (" + syntax.Where(at, lit.Pos()) + ")"
}

func ofMain(f *site.Frame) bool { return f.Owner.Kind == gocode.Main }

// Outside says what a section waits for outside of the program, and what to do about it; false if
// it waits for nothing, as far as the samples below it, the trace and its source show. Of several
// waits it chooses one that forces data to the disk, otherwise what most samples show, otherwise
// the first.
func (s *Section) Outside(p *rule.Pass, file string) (cause, fix string, ok bool) {
	waits := s.Waits(p)
	if p != nil {
		waits = append(s.seen(p, file), waits...)
	}
	var blocked *Blocked
	if p != nil && (len(waits) == 0 || waits[0].For == "") {
		blocked = s.Blocked(p, file)
		// What a function that the section calls may wait for need not happen.
		waits = slices.DeleteFunc(waits, func(w Wait) bool { return w.For == "" && w.in != "" })
		if blocked == nil && len(waits) == 0 {
			waits = s.deep(p)
		}
	}
	if len(waits) == 0 && blocked == nil {
		return "", "", false
	}
	if blocked != nil {
		if each, advice := s.receivers(blocked.Line); each != "" {
			return " " + blocked.Words() + "." + each, advice, true
		}
		return " " + blocked.Words() + "." + blocked.other, cmp.Or(s.unlocked(blocked), s.moved(blocked.Line, blocked.given)), true
	}
	w := waits[0]
	for _, other := range waits {
		if other.syncs() && !w.syncs() {
			w = other
		}
	}
	mutex := syntax.Text(s.Mutex)
	through := w.through()
	switch {
	case w.syncs():
		return fmt.Sprintf(" Line %d forces each entry to the disk separately while it is held (%s%s): one fsync for each goroutine that queues.", w.Line, symbol.Short(w.For), through),
			fmt.Sprintf("Commit in groups: append entries under %s, let one goroutine write and fsync all that have accumulated, and wake the goroutines that wait for them.", mutex), true
	case w.For == "":
		if w.in != "" {
			through = ", in " + w.in
		}
		return fmt.Sprintf(" Line %d waits for a channel meanwhile%s.", w.Line, through), s.moved(w.Line, w.given), true
	}
	cause = w.words()
	if each, advice := s.receivers(w.Line); each != "" {
		return cause + each, advice, true
	}
	return cause, s.moved(w.Line, w.given), true
}

// moved says how to wait on a line with the mutex unlocked. The line may call a function that
// another one passes.
func (s *Section) moved(line int, given string) string {
	mutex := syntax.Text(s.Mutex)
	if s.serves(line) {
		return fmt.Sprintf("Do not hold %s while a whole request is served: let the handlers lock only around what it guards, and not while they wait. To limit how many run at a time, a semaphore admits more than one.", mutex)
	}
	if given != "" {
		return fmt.Sprintf("Do not wait with %s held: let %s wait before it passes its function, which then only reads and stores. If others may need the same, let one of them do it for all (singleflight.Group.Do).", mutex, given)
	}
	if to := s.stream(line); to != "" {
		return fmt.Sprintf("Put what goes to %s into a channel of limited size, and let one goroutine write all that has arrived and flush once: %s keeps the output in order, so the write cannot move out of it.", to, mutex)
	}
	if c, ok := caching.Of(s.place); ok && c.Store.Pos() > s.start && c.Store.Pos() < s.end {
		return fmt.Sprintf("Do not wait with %s held, or all keys wait for one: look up %s, unlock, call line %d for each key only once at a time (singleflight.Group.Do), and lock again to store the result.",
			mutex, syntax.Text(c.Key), line)
	}
	if s.refreshes(line) {
		return fmt.Sprintf("Do not make all goroutines wait for line %d: return the value that has expired while one goroutine gets the new one, or get it before the old one expires, in a goroutine. Take %s only to read and to replace the value.", line, mutex)
	}
	if fix := s.copied(line); fix != "" {
		return fix
	}
	if s.Lock == nil && s.Deferred {
		return fmt.Sprintf("Do not wait with %s held: take away what line %d needs, call Unlock before that line instead of by defer, then wait.", mutex, line)
	}
	return fmt.Sprintf("Do not wait with %s held: copy what line %d needs, unlock, then wait.", mutex, line)
}

// refreshes reports whether a line of a section gets a value again after a test of its time.
func (s *Section) refreshes(line int) bool {
	for _, call := range s.Calls() {
		if syntax.Line(s.place, call.Lparen) != line {
			continue
		}
		assign, ok := syntax.Parent(s.place, call).(*ast.AssignStmt)
		if !ok {
			continue
		}
		value := slices.ContainsFunc(assign.Lhs, func(to ast.Expr) bool {
			t := s.place.TypeOf(to)
			return t != nil && !types.Identical(t, types.Universe.Lookup("error").Type())
		})
		if test := caching.ExpiryTest(s.place, call.Pos()); value && test != nil && test.Pos() >= s.start {
			return true
		}
	}
	return false
}

// serves reports whether a line of a section calls the handler behind a middleware: a function or
// an http.Handler that gets what the function around the section gets.
func (s *Section) serves(line int) bool {
	return slices.ContainsFunc(s.Calls(), func(call *ast.CallExpr) bool {
		if syntax.Line(s.place, call.Lparen) != line {
			return false
		}
		name := s.place.CalleeName(call)
		if funcname.Match(name, "(net/http.Handler).ServeHTTP", "(net/http.HandlerFunc).ServeHTTP", "(*github.com/gin-gonic/gin.Context).Next", "(*github.com/gofiber/fiber/*.Ctx).Next") {
			return true
		}
		t := s.place.TypeOf(call.Fun)
		if name != "" || t == nil || len(call.Args) == 0 {
			return false
		}
		first := s.place.TypeOf(call.Args[0])
		return first != nil && slices.ContainsFunc([]string{"net/http.ResponseWriter", "github.com/labstack/echo/v4.Context"}, func(w string) bool { return first.String() == w }) ||
			slices.Contains([]string{"google.golang.org/grpc.UnaryHandler", "google.golang.org/grpc.StreamHandler"}, t.String())
	})
}

// through says what leads from the line to the function that waits.
func (w Wait) through() (text string) {
	if w.in != "" {
		text = ", called by " + w.in
	}
	if w.given != "" {
		text += ", below the function that it gets from " + w.given
	}
	return text
}

// words describes a wait outside of the program, in a sentence with a space before it.
func (w Wait) words() string {
	return fmt.Sprintf(" Line %d waits meanwhile for something outside of the program, in %s%s.", w.Line, symbol.Short(w.For), w.through())
}

func (w Wait) syncs() bool { return strings.HasSuffix(w.For, "os.File).Sync") }
