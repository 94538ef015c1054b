package render

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/hone-go/hone/internal/inspect"
	"github.com/hone-go/hone/profile/report"
)

func TestRemarksPage(t *testing.T) {
	v, err := report.NewView(smallProfile(t), report.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	f := inspect.ListedFunction{
		FuncLines: report.FuncLines{Name: "main.slow", File: "slow.go", StartLine: 3, Flat: 9e8, Cum: 9e8, Lines: []report.LineCost{{Line: 4, Flat: 6e8, Cum: 6e8}, {Line: 5, Flat: 3e8, Cum: 3e8}}},
		Path:      "/src/slow.go", From: 3, Source: []string{"func slow() {", "\tx++", "\ty++", "}"},
		Remarks: []inspect.Remark{
			{Line: 3, Kind: "inlining", Text: "is not inlined: function too complex: cost 452 exceeds budget 80"},
			{Line: 4, Kind: "escape", Text: "&strings.Replacer{...} escapes to heap: passed to (*strings.Replacer).Replace, slow.go:4 (in a call inlined from replace.go:36)"},
		},
	}
	for i := range mostRemarks + 2 {
		f.Remarks = append(f.Remarks, inspect.Remark{Line: 5, Kind: "inlined call", Text: fmt.Sprintf("main.f%d is inlined here", i)})
	}
	page := &inspect.Listing{View: v, Functions: []inspect.ListedFunction{f}, Notes: []string{"the compiler was asked about example.com/a only, of 2 packages; with -remarks it is asked about all"}}
	var b bytes.Buffer
	List(&b, page, Style{})
	golden(t, "list_remarks.golden", b.Bytes())
	b.Reset()
	if err := JSON(&b, ListJSON(page)); err != nil {
		t.Fatal(err)
	}
	golden(t, "list_remarks.json.golden", b.Bytes())
}
