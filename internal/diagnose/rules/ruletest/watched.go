//go:build live

package ruletest

import (
	"slices"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/target"
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/symbol"
)

// watchInputs builds the program so that some functions in its profile report their inputs, runs it
// once and returns the inputs: functions of package main, and of the encodings and database/sql of
// the standard library, which stand for other modules. Constructors of decoders cost too little to
// be in a CPU profile.
func watchInputs(t *testing.T, p *program) *inputs.Counts {
	t.Helper()
	var funcs []target.Func
	functions := slices.Clone(p.onCPU.Functions)
	for _, f := range p.allocs.Functions {
		same := func(g profile.Function) bool { return g.Name == f.Name }
		if strings.HasSuffix(f.Name, ".NewDecoder") && !slices.ContainsFunc(functions, same) {
			functions = append(functions, f)
		}
	}
	for _, f := range functions {
		pkg := symbol.Package(f.Name)
		switch {
		case pkg == "main" && f.Name != "main.main":
			pkg = p.bin.ImportPath
		case strings.HasPrefix(pkg, "encoding/"), pkg == "database/sql":
		default:
			continue
		}
		funcs = append(funcs, target.Func{Name: f.Name, Package: pkg, File: f.Filename, Line: int(f.StartLine)})
	}
	bin, err := target.Build(t.Context(), target.BuildSpec{Package: ".", Dir: p.bin.Dir, WorkDir: t.TempDir(), Inputs: funcs})
	if err != nil {
		t.Fatal(err)
	}
	watched := &program{bin: bin}
	parts, _ := watched.run(t, target.Collect{Inputs: true}, target.PartInputs)
	var sources []inputs.Source
	for _, f := range bin.Watched {
		sources = append(sources, inputs.Source{Name: f.Name, Package: f.Package, File: f.File, Line: f.Line, Params: f.Params})
	}
	c, err := inputs.Parse(parts[target.PartInputs], sources)
	if err != nil {
		t.Fatal(err)
	}
	c.Units = 1
	return c
}
