package ruletest

import (
	"fmt"
	"strings"

	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/covdata"
)

// parseCounts reads what count wrote; nil when that is nothing.
func parseCounts(text string) (*counts.Index, error) {
	if text == "" {
		return nil, nil
	}
	meta := &covdata.Meta{Packages: []covdata.Package{{}}}
	pkg := &meta.Packages[0]
	var all [][]uint64
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if file, name, ok := strings.Cut(line, " "); ok && !strings.HasPrefix(line, "\t") {
			pkg.Funcs = append(pkg.Funcs, covdata.Func{Name: name, File: file})
			all = append(all, nil)
			continue
		}
		var b covdata.Block
		var n uint64
		if _, err := fmt.Sscanf(line, "\t%d.%d %d.%d %d", &b.StartLine, &b.StartColumn, &b.EndLine, &b.EndColumn, &n); err != nil || len(all) == 0 {
			return nil, fmt.Errorf("line %d: %q: %v", i+1, line, err)
		}
		last := len(all) - 1
		pkg.Funcs[last].Blocks = append(pkg.Funcs[last].Blocks, b)
		all[last] = append(all[last], n)
	}
	return counts.New(meta, []counts.Window{{Units: 1, Counts: covdata.Counts{all}}}), nil
}
