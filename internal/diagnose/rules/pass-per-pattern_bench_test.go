package rules_test

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkPassPerPattern replaces patterns one by one and in one pass, in texts with and without
// their first bytes.
func BenchmarkPassPerPattern(b *testing.B) {
	for _, patterns := range []int{8, 64, 100, 800} {
		var pairs []string
		for i := range patterns {
			pairs = append(pairs, fmt.Sprintf(":name%d:", i), fmt.Sprint("<", i, ">"))
		}
		replacer := strings.NewReplacer(pairs...)
		for _, t := range []struct{ what, text string }{
			{"with", strings.Repeat(fmt.Sprintf("a text: it says :name%d:, and goes on. ", patterns/2), 50)},
			{"without", strings.Repeat("a text that has none of the patterns. ", 50)},
		} {
			b.Run(fmt.Sprintf("%s/%d/searches", t.what, patterns), func(b *testing.B) {
				for b.Loop() {
					text := t.text
					for i := 0; i < len(pairs); i += 2 {
						text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
					}
				}
			})
			b.Run(fmt.Sprintf("%s/%d/pass", t.what, patterns), func(b *testing.B) {
				for b.Loop() {
					replacer.Replace(t.text)
				}
			})
		}
	}
}
