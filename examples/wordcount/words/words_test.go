package words

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestAdd(t *testing.T) {
	c := NewCounts()
	c.Add("The cat, the dog. Don't; the CAT!")
	c.Add("cat")
	c.Add(" ... ")
	wantWords := map[string]int{"the": 3, "cat": 3, "dog": 1, "don't": 1}
	wantPairs := map[string]int{"the cat": 2, "cat the": 1, "the dog": 1, "dog don't": 1, "don't the": 1}
	if c.Total != 8 || !maps.Equal(c.Words, wantWords) || !maps.Equal(c.Pairs, wantPairs) {
		t.Errorf("%d words %v, pairs %v; want 8, %v, %v", c.Total, c.Words, c.Pairs, wantWords, wantPairs)
	}
}

func TestTop(t *testing.T) {
	counts := map[string]int{"b": 2, "a": 2, "c": 9, "d": 1}
	want := []Entry{{"c", 9}, {"a", 2}, {"b", 2}}
	if got := Top(counts, 3); !slices.Equal(got, want) {
		t.Errorf("top 3: %v, want %v", got, want)
	}
	if got := Top(counts, 9); len(got) != 4 {
		t.Errorf("top 9 of 4: %v", got)
	}
}

// A page has the stated number of words, and one pair of words fewer.
func TestPage(t *testing.T) {
	c := NewCounts()
	page := NewText(7).Page()
	c.Add(page)
	pairs := 0
	for _, n := range c.Pairs {
		pairs += n
	}
	if c.Total != pageWords || pairs != pageWords-1 {
		t.Errorf("%d words, %d pairs, want %d and one fewer", c.Total, pairs, pageWords)
	}
	if page == NewText(8).Page() || !strings.Contains(page, ". ") {
		t.Error("pages are alike or have no sentences")
	}
}

func BenchmarkAdd(b *testing.B) {
	page := NewText(1).Page()
	counts := NewCounts()
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		counts.Add(page)
	}
}

func BenchmarkPage(b *testing.B) {
	text := NewText(1)
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		text.Page()
	}
}
