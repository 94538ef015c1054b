// Command wordgraph links the words of generated sentences with those that follow them, and prints
// the best linked: a program that runs and exits.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"strings"
)

var syllables = []string{"ba", "den", "kö", "lu", "mar", "no", "pé", "ri", "so", "tan", "vu", "zel"}

// sentence is the nth sentence of a text: some words of a language that nobody speaks.
func sentence(n int) string {
	var b strings.Builder
	state := uint32(n)*2654435761 + 12345
	for word := range 14 {
		if word > 0 {
			b.WriteByte(' ')
		}
		for range 2 + state>>29%2 {
			state = state*1664525 + 1013904223
			b.WriteString(syllables[state>>16%6+state>>24%6])
		}
		if word%5 == 4 {
			b.WriteByte(',')
		}
	}
	b.WriteByte('.')
	return b.String()
}

// node is a place of a word in a sentence.
type node struct {
	word       string
	line, rank int
	next       *node
}

// graph counts which word follows which.
type graph struct {
	links map[string]map[string]int
}

// add links the words of a sentence.
func (g *graph) add(places []*node) {
	for i := 1; i < len(places); i++ {
		places[i-1].next = places[i]
	}
	for _, p := range places {
		if p.next == nil {
			continue
		}
		followers := g.links[p.word]
		if followers == nil {
			followers = map[string]int{}
			g.links[p.word] = followers
		}
		followers[p.next.word]++
	}
}

// run reads n sentences and prints the words with the most followers.
func run(w io.Writer, n int) error {
	g := &graph{links: map[string]map[string]int{}}
	longest := 0
	for line := range n {
		text := sentence(line)
		longest = max(longest, letters(text))
		g.add(nodes(strings.Fields(text), line))
	}
	words := make([]string, 0, len(g.links))
	for word := range g.links {
		words = append(words, word)
	}
	slices.SortFunc(words, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(g.links[b]), len(g.links[a])), strings.Compare(a, b))
	})
	for _, word := range words[:min(len(words), 5)] {
		if _, err := fmt.Fprintf(w, "%s %d\n", word, len(g.links[word])); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%d words, %d letters at most\n", len(words), longest)
	return err
}

func main() {
	log.SetFlags(0)
	n := flag.Int("n", 40000, "number of sentences")
	flag.Parse()
	if err := run(os.Stdout, *n); err != nil {
		log.Fatal(err)
	}
}
