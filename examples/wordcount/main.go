// Command wordcount counts the words and word pairs of generated pages and
// prints the most frequent: a program that runs and ends, to be measured as
//
//	hone run ./examples/wordcount -- -n 1000
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"

	"example.com/wordcount/words"
)

func main() {
	log.SetFlags(0)
	pages := flag.Int("n", 1000, "number of pages to count")
	top := flag.Int("top", 5, "number of words and of pairs to print")
	seed := flag.Uint64("seed", 1, "seed of the generated text")
	flag.Parse()
	if *pages < 0 || *top < 0 {
		log.Fatal("wordcount: -n and -top must not be negative")
	}
	if err := run(os.Stdout, *pages, *top, *seed); err != nil {
		log.Fatal(err)
	}
}

// run counts the pages one after the other, so that only one is in memory.
func run(w io.Writer, pages, top int, seed uint64) error {
	text := words.NewText(seed)
	counts := words.NewCounts()
	for range pages {
		counts.Add(text.Page())
	}
	fmt.Fprintf(w, "%d pages, %d words, %d different, %d pairs\n",
		pages, counts.Total, len(counts.Words), len(counts.Pairs))
	for _, list := range [][]words.Entry{words.Top(counts.Words, top), words.Top(counts.Pairs, top)} {
		for _, e := range list {
			if _, err := fmt.Fprintf(w, "%8d %s\n", e.Count, e.Text); err != nil {
				return fmt.Errorf("print the counts: %w", err)
			}
		}
	}
	return nil
}
