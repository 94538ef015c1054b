package changed

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// TestWords writes the sentences for the pairs of releases.
func TestWords(t *testing.T) {
	var b strings.Builder
	for _, p := range pairs {
		c := compare(t, "package m\n"+p.old, "package m\n"+p.new, "example.com/m.F")
		gone, now := c.Words(nil)
		fmt.Fprintf(&b, "%s\n  %s\n  %s\n", p.name, gone, now)
	}
	golden := filepath.Join("testdata", "words.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("-update if this is right:\n%s", b.String())
	}
}
