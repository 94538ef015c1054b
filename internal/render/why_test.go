package render

import (
	"bytes"
	"testing"

	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/inspect"
	"github.com/hone-go/hone/internal/site"
)

func why() *inspect.Why {
	cost := func(unit string, own, total, of float64) inspect.WhyCost {
		amount := func(x float64) inspect.WhyAmount {
			return inspect.WhyAmount{Value: x, Low: 0.8 * x, High: 1.3 * x, Share: share(x / of)}
		}
		return inspect.WhyCost{Unit: unit, Own: amount(own), Total: amount(total)}
	}
	return &inspect.Why{
		Schema: inspect.WhySchema, Recording: "x.hone", Place: "leftpad", Unit: "cpu",
		Functions: []inspect.WhyFunction{{Function: "main.leftpad", File: "leftpad.go", Owner: "main", Module: "example.com/app"}},
		Costs: []inspect.WhyCost{
			cost(site.UnitCPU, 1.2, 1.5, 20), cost(site.UnitGC, 0.3, 0.3, 20), cost(site.UnitBusy, 1.5, 1.8, 20),
			cost(site.UnitBytes, 3<<20, 3<<20, 10<<20), cost(site.UnitObjects, 48e3, 48e3, 1e5), cost(site.UnitMutex, 0, 0, 5),
		},
		Callers: []inspect.WhyNeighbour{{Function: "main.handler", File: "handlers.go", Line: 41, Owner: "main", Share: 0.9}, {Function: "main.warm", File: "main.go", Line: 8, Owner: "main", Share: 0.001}},
		Callees: []inspect.WhyNeighbour{{Function: "runtime.concatstring2", File: "runtime/string.go", Owner: "std", Share: 0.6}, {Share: 0.4}},
		Compiler: []inspect.WhyRemark{
			{File: "leftpad.go", Line: 7, Kind: "escape", Text: "string(c) + s escapes to heap: returned, leftpad.go:9", Path: []string{"it is assigned: s = string(c) + s, leftpad.go:7", "it is returned: return s, leftpad.go:9"}},
			{File: "leftpad.go", Line: 8, Kind: "bounds check", Text: "an index is checked"},
		},
		Findings: []diagnose.Finding{page().Report.Findings[0]},
		Notes:    []string{"only 200 CPU samples"},
		Problem:  "leftpad.go is not on this machine",
	}
}

func TestWhyPage(t *testing.T) {
	var b bytes.Buffer
	Why(&b, why(), Style{})
	golden(t, "why.golden", b.Bytes())
	var colour bytes.Buffer
	Why(&colour, why(), Style{Color: true})
	if got := stripEscapes(colour.Bytes()); !bytes.Equal(got, b.Bytes()) {
		t.Errorf("coloured page without its colours:\n%s", got)
	}
	b.Reset()
	if err := JSON(&b, WhyJSON(why())); err != nil {
		t.Fatal(err)
	}
	golden(t, "why.json.golden", b.Bytes())
}
