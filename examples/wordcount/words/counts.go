// Package words counts words and pairs of neighbouring words, and makes text
// to count.
package words

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Counts holds how often each word and each pair of neighbours was seen.
// Words are in lower case; a pair is two words with a space between.
type Counts struct {
	Total int // words
	Words map[string]int
	Pairs map[string]int
}

// NewCounts returns empty counts.
func NewCounts() *Counts {
	return &Counts{Words: make(map[string]int), Pairs: make(map[string]int)}
}

// Add counts the words of one page. Pairs do not span pages.
func (c *Counts) Add(page string) {
	previous := ""
	for _, word := range strings.FieldsFunc(page, notInWord) {
		word = strings.ToLower(word)
		c.Total++
		c.Words[word]++
		if previous != "" {
			c.Pairs[fmt.Sprintf("%s %s", previous, word)]++
		}
		previous = word
	}
}

// notInWord tells the characters that part words.
func notInWord(r rune) bool { return !unicode.IsLetter(r) && r != '\'' }

// Entry is a word or pair with its count.
type Entry struct {
	Text  string
	Count int
}

// Top returns the n most frequent entries; equals are in the order of the alphabet.
func Top(counts map[string]int, n int) []Entry {
	entries := make([]Entry, 0, len(counts))
	for text, count := range counts {
		entries = append(entries, Entry{text, count})
	}
	slices.SortFunc(entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Text, b.Text))
	})
	return entries[:min(n, len(entries))]
}
