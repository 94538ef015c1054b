package traced

import (
	"testing"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/analysis"
	"github.com/hone-go/hone/exectrace/parallelism"
	"github.com/hone-go/hone/exectrace/wall"
	"github.com/hone-go/hone/internal/diagnose/rule"
)

// TestRequesting: lines of modules that a client's connection wakes, not those that others wake.
func TestRequesting(t *testing.T) {
	line := func(function, file string) exectrace.Line {
		return exectrace.Line{Function: function, File: file, Line: 7}
	}
	reader := line("net/http.(*persistConn).readLoop", "/go/src/net/http/transport.go")
	worker, pool := line("example.com/post.(*worker).run", "/mod/post/worker.go"), line("example.com/post.(*pool).get", "/mod/post/pool.go")
	wait := func(at, by exectrace.Line) wall.Wait {
		return wall.Wait{Line: at, Reason: "select", Seconds: 1, Count: 9, Wakers: []wall.Waker{{Line: exectrace.Line{}}, {Line: by}}}
	}
	p := &rule.Pass{Trace: &analysis.Results{
		Parallelism: &parallelism.Result{Length: 1},
		Blocking:    &wall.Blocking{Waits: []wall.Wait{wait(worker, reader), wait(pool, worker), wait(reader, reader), wait(worker, reader)}},
	}}
	if got := Requesting(p); len(got) != 1 || got[0] != worker {
		t.Errorf("%v wait for answers, want %v", got, worker)
	}
}
