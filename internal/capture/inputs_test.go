package capture

import (
	"maps"
	"testing"

	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/profile"
)

// inputsOf records a target with the phase inputs alone, and the profile that decides which
// functions to watch.
func inputsOf(t *testing.T, o Options) *inputs.Counts {
	t.Helper()
	o.Phases = []string{recording.PhaseCPU, recording.PhaseInputs}
	if partial, err := Record(t.Context(), o); partial || err != nil {
		t.Fatal(partial, err)
	}
	r := openReal(t, o.Out)
	if !r.Has(recording.PartInputs) {
		t.Fatalf("no inputs: %+v", r.Manifest.Missing)
	}
	data, err := r.Bytes(recording.PartInputs)
	if err != nil {
		t.Fatal(err)
	}
	c, err := inputs.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestInputsOfAService: each request pads one text, always the same; requests are distinguished by
// the arguments of the handler.
func TestInputsOfAService(t *testing.T) {
	o := realOptions(t, unpack(t, realService))
	addr := freeAddr(t)
	o.Args, o.Load = []string{"-addr", addr}, loadOn(addr)
	c := inputsOf(t, o)
	pad := c.Of("main.pad")
	if pad == nil || c.Requests == 0 || c.Targets != 1 || c.Units == 0 {
		t.Fatalf("%+v", c)
	}
	// At the ends of the window a request may be between the entry of its handler and that of pad.
	edge := int64(2 * o.Load.Connections)
	if pad.Different != 1 || pad.Hashed != pad.Calls || pad.Calls < c.Requests-edge || pad.Calls > c.Requests+edge || !pad.ByValue() {
		t.Errorf("pad: %+v of %d requests", pad, c.Requests)
	}
}

// TestInputsOfPrograms: one run of a program, and a benchmark's operations.
func TestInputsOfPrograms(t *testing.T) {
	dir := unpack(t, countedProgram)
	t.Run("program", func(t *testing.T) {
		c := inputsOf(t, realOptions(t, dir))
		if f := c.Of("main.step"); f == nil || f.Calls != 50_000 || f.Different < 46_000 || f.Different > 54_000 || c.Units != 1 {
			t.Errorf("%+v, %+v", f, c)
		}
	})
	t.Run("benchmark", func(t *testing.T) {
		o := realOptions(t, dir)
		o.Bench = "Step"
		c := inputsOf(t, o)
		if f := c.Of("example.com/program.step"); f == nil || f.Calls != countedOps+1 || f.Different != countedOps || c.Units != countedOps {
			t.Errorf("%+v, %+v", f, c)
		}
	})
}

func TestWatchable(t *testing.T) {
	for name, want := range map[string]bool{
		"main.pad": true, "text/template.(*Template).Parse": true, "example.com/a.F": true,
		"main.main": false, "strings.Split": false, "runtime.mallocgc": false, "reflect.Value.Call": false,
	} {
		f := profile.Function{Name: name, Filename: "/src/x.go", StartLine: 3}
		if got := watchable(f); got != want {
			t.Errorf("%s: %t", name, got)
		}
		f.Filename = "/src/x_test.go"
		if watchable(f) {
			t.Errorf("%s in a test is watched", name)
		}
	}
}

// TestHotFunctions: a literal of another package that was compiled into package main is watched in
// the package of its file.
func TestHotFunctions(t *testing.T) {
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"}, profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	add := func(n int64, stack ...profile.FrameSpec) { b.Add(stack, n, n*1e7) }
	frame := func(fn, file string, line int64) profile.FrameSpec {
		return profile.FrameSpec{Function: fn, File: file, Line: line, StartLine: line}
	}
	closure := frame("main.newHandler.Compress (closure 2.1)", "/mod/chi/compress.go", 20)
	add(50, frame("github.com/go-chi/chi.(*Mux).route", "/mod/chi/mux.go", 7), closure, frame("main.answer", "/app/main.go", 30), frame("main.main", "/app/main.go", 3))
	add(50, frame("main.newHandler.Other (closure 1)", "/mod/other/x.go", 4), frame("strings.Repeat", "/go/src/strings/strings.go", 9))
	add(1, frame("main.seldom", "/app/main.go", 50))
	got := map[string]string{}
	for _, f := range hotFunctions(map[string][]byte{recording.PartCPU: built(b)}, "example.com/app") {
		got[f.Name] = f.Package
	}
	want := map[string]string{
		"main.answer": "example.com/app", "github.com/go-chi/chi.(*Mux).route": "github.com/go-chi/chi",
		"main.newHandler.Compress (closure 2.1)": "github.com/go-chi/chi",
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}
