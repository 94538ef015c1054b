package httpconn

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/site"
)

// TestBlame: dialling is the cost of new connections. Closing them, accepting them in the same
// process and growing the stacks of their goroutines may be; the connections of a database are not.
func TestBlame(t *testing.T) {
	row := func(owner int, functions ...string) *site.Row {
		r := &site.Row{Owner: owner, Count: 1, Value: 1}
		for _, f := range functions {
			r.Stack = append(r.Stack, &site.Frame{Function: f})
		}
		return r
	}
	dial := row(-1, "syscall.connect", "net/http.(*Transport).dialConn", "net/http.(*Transport).dialConnFor")
	shut := row(-1, "syscall.Close", "net.(*conn).Close", "net/http.(*persistConn).readLoop.func1")
	failed := row(-1, "syscall.Close", "net.(*conn).Close", "net/http.(*Transport).dialConn")
	accept := row(2, "net.(*netFD).accept", "net/http.(*Server).Serve", "main.main")
	grown := row(1, "runtime.copystack", "runtime.newstack", "main.answer", "net/http.(*conn).serve")
	last := row(-1, "syscall.Close", "internal/poll.(*FD).destroy", "net.(*netFD).Read", "net/http.(*persistConn).readLoop")
	served := row(0, "main.answer", "net/http.(*conn).serve")
	database := row(1, "net.(*conn).Close", "main.query")
	buffer := row(-1, "bufio.NewReaderSize", "net/http.(*Transport).dialConn")
	p := &rule.Pass{Table: &site.Table{
		Sites:   []*site.Site{{CPU: []*site.Row{accept, grown, served, database}}},
		Buckets: []site.Bucket{{Rows: []*site.Row{dial, shut, failed, last}, Allocs: []*site.Row{buffer}}},
	}}
	dials := Dials(p)
	if len(dials) != 2 {
		t.Errorf("%d rows of dialling, want 2", len(dials))
	}
	c := &finder.Case{Match: &rule.Match{}, Pass: p}
	Blame(c, dials)
	if len(c.CPU) != 2 || len(c.Allocs) != 1 || c.Allocs[0] != buffer {
		t.Errorf("blamed for %d rows of CPU and %d of allocations", len(c.CPU), len(c.Allocs))
	}
	if u := c.Uncertain; len(u.CPU) != 4 || u.CPU[0] != accept || u.CPU[1] != grown || u.CPU[2] != shut || u.CPU[3] != last || len(u.Allocs) != 0 {
		t.Errorf("may save %d rows of CPU and %d of allocations, want those of closing, accepting and growing stacks", len(u.CPU), len(u.Allocs))
	}
}
