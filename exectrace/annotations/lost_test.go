package annotations

import (
	"bytes"
	"context"
	"fmt"
	"runtime/trace"
	"testing"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/internal/tracetest"
)

// TestTypesBeyondTheBound: what is not kept is counted as lost, and no type has more ends than
// starts.
func TestTypesBeyondTheBound(t *testing.T) {
	data := tracetest.Record(t, func() {
		for i := range maxTypes + 10 {
			_, task := trace.NewTask(context.Background(), fmt.Sprint(i))
			task.End()
		}
	})
	var f Fold
	if _, err := exectrace.Read(t.Context(), bytes.NewReader(data), exectrace.Options{}, &f); err != nil {
		t.Fatal(err)
	}
	r := f.Result()
	if len(r.Tasks) != maxTypes || r.Lost != 20 {
		t.Errorf("%d types, %d events lost; want %d and the 20 of ten more", len(r.Tasks), r.Lost, maxTypes)
	}
	for _, x := range r.Tasks {
		if x.Open != 0 || x.Count != 1 {
			t.Errorf("%+v", x)
		}
	}
}

// TestTasksWithoutNumberedNames: so many names of logs are numbered that a later task's name has no
// number; therefore its end has no name.
func TestTasksWithoutNumberedNames(t *testing.T) {
	const names = 1<<18 + 10 // more than a trace numbers
	_, before := trace.NewTask(context.Background(), "before")
	data := tracetest.Record(t, func() {
		before.End()
		for i := range names {
			trace.Log(context.Background(), fmt.Sprint(i), "")
		}
		_, task := trace.NewTask(context.Background(), "late")
		task.End()
	})
	var f Fold
	if _, err := exectrace.Read(t.Context(), bytes.NewReader(data), exectrace.Options{}, &f); err != nil {
		t.Fatal(err)
	}
	for _, x := range f.Result().Tasks {
		if want := map[string]int64{"": 0, "late": 1}; x.Open != want[x.Name] || x.Count != 1 {
			t.Errorf("%+v", x)
		}
	}
}
