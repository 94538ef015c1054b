package exectrace_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/internal/tracetext"
)

var update = flag.Bool("update", false, "write the golden files")

// TestConformance reads the traces of testdata: for each rule, one that keeps it and one that
// breaks it. Their comments say why. Both readers must agree, except for files that say "Unlike
// x/exp".
func TestConformance(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no test data", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			data, err := tracetext.Assemble(section(a, "trace"))
			if err != nil {
				t.Fatal(err)
			}
			got := dump(data)
			if *update {
				setSection(a, "want", got)
				if err := os.WriteFile(name, txtar.Format(a), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(section(a, "want"), got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if !strings.Contains(string(a.Comment), "Unlike x/exp") {
				compare(t, data, &consistent{t: t})
			}
		})
	}
}

func section(a *txtar.Archive, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func setSection(a *txtar.Archive, name, text string) {
	for i := range a.Files {
		if a.Files[i].Name == name {
			a.Files[i].Data = []byte(text)
			return
		}
	}
	a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(text)})
}

// dump writes the events of a trace, one per line, and the error of reading it.
func dump(data []byte) string {
	var d dumper
	_, err := exectrace.Read(context.Background(), bytes.NewReader(data), exectrace.Options{}, &d)
	var broken *exectrace.Broken
	switch {
	case errors.As(err, &broken):
		fmt.Fprintf(&d, "broken: generation %d, byte %d, %d lost: %v\n", broken.Generation, broken.Offset, broken.Lost, broken.Err)
	case err != nil:
		fmt.Fprintf(&d, "error: %v\n", err)
	}
	return d.String()
}

type dumper struct{ strings.Builder }

func (d *dumper) Events(t *exectrace.Trace, b *exectrace.Block) {
	for i := range b.Events {
		d.event(t, &b.Events[i])
	}
}

func (d *dumper) event(t *exectrace.Trace, e *exectrace.Event) {
	fmt.Fprintf(d, "%d", e.Time)
	if e.M >= 0 {
		fmt.Fprintf(d, " m%d", t.Threads()[e.M])
	}
	if e.P >= 0 {
		fmt.Fprintf(d, " p%d", e.P)
	}
	if g := id(t, e.By); g >= 0 {
		fmt.Fprintf(d, " by g%d", g)
	}
	fmt.Fprintf(d, " %v", e.Kind)
	if g := id(t, e.G); g >= 0 {
		fmt.Fprintf(d, " g%d", g)
	}
	if e.From != 0 || e.To != 0 {
		fmt.Fprintf(d, " %v", e.From)
		if e.Was != 0 {
			fmt.Fprintf(d, "(%s)", t.ReasonName(e, e.Was))
		}
		fmt.Fprintf(d, "->%v", e.To)
	}
	if e.Why != 0 {
		fmt.Fprintf(d, "(%s)", t.ReasonName(e, e.Why))
	}
	if e.Since != e.Time {
		fmt.Fprintf(d, " since %d", e.Since)
	}
	if e.Value != 0 {
		fmt.Fprintf(d, " value %d", e.Value)
	}
	if e.Kind >= exectrace.GoLabel && e.Kind <= exectrace.Log {
		a := t.Annotation(e)
		fmt.Fprintf(d, " %q %q parent %d", a.Name, t.Message(e), a.Parent)
	}
	if e.Kind == exectrace.TaskEnd || e.Kind == exectrace.RegionEnd {
		fmt.Fprintf(d, " begun %v", t.Begun(e))
	}
	for _, s := range []struct {
		name  string
		stack exectrace.StackID
	}{{"at", e.Stack}, {"left", e.Left}} {
		if f := t.Frames(s.stack); len(f) > 0 {
			fmt.Fprintf(d, " %s %s:%d", s.name, f[0].Func, f[0].Line)
		}
	}
	d.WriteByte('\n')
}

func (d *dumper) End(t *exectrace.Trace) {
	for _, g := range t.Live() {
		fmt.Fprintf(d, "end: g%d %v since %d\n", g.ID, g.State, g.Since)
	}
}
