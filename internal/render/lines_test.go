package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose"
)

// TestLinesOfTwoKinds: lines where requests wait are not among those that cost CPU.
func TestLinesOfTwoKinds(t *testing.T) {
	fs := []diagnose.Finding{
		{Generic: true, File: "main.go", Line: 7, Function: "main.get", Cause: "Requests wait here.", Sites: []diagnose.SiteRef{{Share: 0.75}}},
		{Generic: true, File: "main.go", Line: 9, Function: "main.mix", Cost: diagnose.Cost{WithGC: &diagnose.Range{Share: 0.05, Low: 0.04, High: 0.06}}},
	}
	var b bytes.Buffer
	otherLines(&b, fs, FindingsPage{}, Style{})
	wait, cost, ok := strings.Cut(b.String(), "Other expensive lines")
	if !ok || !strings.HasPrefix(wait, "Lines where requests wait") || !strings.Contains(wait, "75 %    main.go:7") || !strings.Contains(cost, "main.go:9") {
		t.Errorf("%s", b.String())
	}
}
