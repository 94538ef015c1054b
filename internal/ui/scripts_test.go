package ui

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestScripts compares the scripts of texts with those that a regular expression finds.
func TestScripts(t *testing.T) {
	script := regexp.MustCompile(`(?s)<script(?:\s[^>]*)?>(.*?)</script>`)
	parts := []string{"<script", ">", " type=\"module\"", "\n", "a < b", "</script>", "</script", "<scripts>", "<p>", "\f", "<"}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var page strings.Builder
		for range r.IntN(12) {
			page.WriteString(parts[r.IntN(len(parts))])
		}
		var want []string
		for _, m := range script.FindAllStringSubmatch(page.String(), -1) {
			want = append(want, m[1])
		}
		var got []string
		for _, text := range scripts([]byte(page.String())) {
			got = append(got, string(text))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q: %q, want %q", page.String(), got, want)
		}
	}
}
