//go:build live

package ruletest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/covdata"
	"github.com/hone-go/hone/internal/target"
)

// count builds the program in an archive with counters in some packages, runs it once and returns
// the counts as text: a line for each function, then one for each of its blocks,
//
//	example.com/app/main.go join
//		10.26 11.25 200
func count(t *testing.T, p *program, packages []string) string {
	t.Helper()
	bin, err := target.Build(t.Context(), target.BuildSpec{Package: ".", Dir: p.bin.Dir, WorkDir: t.TempDir(), Counted: packages})
	if err != nil {
		t.Fatal(err)
	}
	counted := &program{bin: bin}
	parts, _ := counted.run(t, target.Collect{Counters: true}, target.PartCountersMeta, target.PartCounters)
	meta, err := covdata.ReadMeta(parts[target.PartCountersMeta])
	if err != nil {
		t.Fatal(err)
	}
	all, err := meta.ReadCounters(parts[target.PartCounters], nil)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i, pkg := range meta.Packages {
		for j, f := range pkg.Funcs {
			fmt.Fprintf(&b, "%s %s\n", f.File, f.Name)
			for k, block := range f.Blocks {
				n := uint64(0) // of a function that did not run there are no counts
				if k < len(all[i][j]) {
					n = all[i][j][k]
				}
				fmt.Fprintf(&b, "\t%d.%d %d.%d %d\n", block.StartLine, block.StartColumn, block.EndLine, block.EndColumn, n)
			}
		}
	}
	return b.String()
}
