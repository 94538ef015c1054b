package annotations_test

import (
	"bytes"
	"context"
	"runtime/trace"
	"strings"
	"testing"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/annotations"
	"github.com/hone-go/hone/exectrace/internal/tracetest"
)

func TestCountsTasksRegionsAndLogs(t *testing.T) {
	early, before := trace.NewTask(context.Background(), "before") // starts before the trace
	data := tracetest.Record(t, func() {
		before.End()
		for i := range 10 {
			ctx, task := trace.NewTask(early, "order")
			trace.WithRegion(ctx, "outer", func() {
				trace.WithRegion(ctx, "inner", func() { trace.Log(ctx, "step", "packed") })
			})
			if i > 0 {
				task.End()
			}
		}
		trace.StartRegion(early, "forgotten")
	})

	var f annotations.Fold
	if _, err := exectrace.Read(t.Context(), bytes.NewReader(data), exectrace.Options{}, &f); err != nil {
		t.Fatal(err)
	}
	r := f.Result()
	types := map[string]annotations.Type{}
	for _, x := range append(r.Tasks, r.Regions...) {
		types[x.Name] = x
	}
	for _, c := range []struct {
		name               string
		count, open, found int64
		timed              bool
	}{
		{"order", 10, 1, 0, true},
		{"", 1, 0, 1, false}, // the task's name is only in its start event
		{"outer", 10, 0, 0, true},
		{"inner", 10, 0, 0, true},
		{"forgotten", 1, 1, 0, false},
	} {
		got := types[c.name]
		if got.Count != c.count || got.Open != c.open || got.Found != c.found || (got.Times != nil) != c.timed {
			t.Errorf("%s: %+v, want %+v", c.name, got, c)
		}
	}
	for _, name := range []string{"outer", "inner", "forgotten"} {
		if l := types[name].Line; !strings.HasSuffix(l.File, "fold_test.go") {
			t.Errorf("%s begins at %+v", name, l)
		}
	}
	if types["inner"].Times.Max > types["outer"].Times.Max {
		t.Errorf("the inner region took %v s, the outer %v s", types["inner"].Times.Max, types["outer"].Times.Max)
	}
	if len(r.Logs) != 10 || r.Logs[0].Message != "packed" || r.Logs[0].Category != "step" {
		t.Errorf("%d logs, first %+v", len(r.Logs), r.Logs)
	}
}
