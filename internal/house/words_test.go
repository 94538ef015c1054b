package house

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestWords: nothing that is written here has a word from the left of the table in CONTRIBUTING.md.
func TestWords(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	avoided := avoid(glossary(string(page)))
	written := []string{".go", ".md", ".js", ".html", ".css", ".txtar"}
	skipped := []string{"CONTRIBUTING.md", "internal/house/words_test.go", "tools/field/testdata"} // the last has cases, in their writers' words
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || slices.Contains(skipped, filepath.ToSlash(name))):
			return fs.SkipDir
		case !d.Type().IsRegular() || !slices.Contains(written, filepath.Ext(path)) || slices.Contains(skipped, name):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, at := range avoided.in(text) {
			t.Errorf("%s:%d: %q: CONTRIBUTING.md says what to write instead", name, 1+bytes.Count(text[:at[0]], []byte("\n")), text[at[0]:at[1]])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A sense finds words that are wrong in one sense and right in another.
type sense struct {
	words string // every match has one of them
	find  string // expression for the wrong sense, in small letters; a space also matches the end of a line of a comment
	wrong string // an example that must be found
	right string // one that must not be found
}

// senses returns, by the left cell of the table, the rows that have a sense in parentheses.
func senses() map[string]sense {
	return map[string]sense{
		"dear (at a cost), dearest, too dear":            {"dear", `(so|as|how|very|is|are|a) dear|dearer`, "the call is dear", "oh dear"},
		"round (of a loop)":                              {"round", `(each|every|next|last|previous|several|many|more) rounds?`, "in every round", "each round trip rounds it up"},
		"begin, end (of a program)":                      {"en", `(hone|program|process|command|target|benchmark|service)s? (that )?(begins?|ends?|ended|has ended)`, "a program that ends", "the phase ends"},
		"let go, given up (a lock)":                      {"let give", `lets? go of|(lock|mutex|it) (is|was) (let go|given up)|gives? up (a|the|its) (lock|mutex)`, "the mutex is let go", "gives up its processor"},
		"the first cache (of a processor), second cache": {"cache", `first cache (of|misses|hits|lines?)`, "in the first cache of the processor", "the first cache that is filled"},
		"told (a finding, a note), cannot be told":       {"told", `(finding|note|reason|error)s? (is|are|was|were|be) told`, "the reason is told", "each worker is told to stop"},
		"an account (of a case)":                         {"account", `accounts? of (a|the|its|this) (case|bug|problem|study)`, "an account of the case", "the mutex of the account"},
		"observed (phase cost)":                          {"observed", `observed (costs?|overhead)`, "its observed cost", "the observed cycles"},
		"pacing (of the collector)":                      {"pacing", `pacing (trials?|phases?|runs?)`, "the pacing trial", "the pacing of the collector"},
		"a twin (of a function)":                         {"twin", `twins?`, "its twin for bytes", "between"},
		"walk (a list, to find)":                         {"walk", `walk(s|ed|ing)? (lists|((the|a|an|over|through) )+(linked )?(list|slice|map|elements|entries))`, "walks a list", "walks the stack"},
		"straight (from, to)":                            {"straight", `straight (from|to|into|out)`, "straight to a file", "straight down"},
		"is no … (where something is not a …)":           {"no", `is no [a-z]+`, "the file is no profile", "there is no profile"},
		"is made (a value, memory)":                      {"made", `(value|buffer|slice|map|string|copy|memory|object|list|table|parser|handler)s? (that )?(is|are) made (once|for|on|by|in|here|again)`, "a buffer is made for each", "what a path is made of"},
		"collector (that takes profiles)":                {"collector", `profile collectors?|collectors? of profiles`, "the profile collector", "the garbage collector"},
		"holds (a figure, against another)":              {"against", `(holds?|held) [^.;:"(|]{1,60} against`, "holds the sums against the table", "it holds the lock"},
		"cures (a version)":                              {"cure", `(version|release|that|which) cures?|(is|no|a) cure`, "a version that cures", "Cure is the version to take"},
		"is no more (exists)":                            {"more", `is no more`, "the function is no more", "is no longer"},
		"as it is (unchanged)":                           {"as", `(program|target|stays|stores it|(leaves?|keeps) (it|the [a-z]+)) as it is`, "the program as it is", "as soon as it is merged"},
		`of, that (without their noun: "that it took")`:  {}, // grammar: there are no words to search for
	}
}

// avoided finds what must not be written: an expression, and words of which all its matches contain
// one. Expressions are tried near these words only, which takes a tenth of the time.
type avoided struct {
	words []string
	find  *regexp.Regexp
}

// near is the greatest distance from such a word to the ends of a match.
const near = 120

// searcher searches texts for what must not be written.
type searcher struct {
	list  []avoided
	right *regexp.Regexp // in a match, the text before it or a few letters after it: the match is right
}

// avoid returns what searches for phrases, and for the senses of the table.
func avoid(phrases []string) searcher {
	var list []avoided
	for _, p := range phrases {
		longest := slices.MaxFunc(strings.Fields(p), func(a, b string) int { return len(a) - len(b) })
		list = append(list, avoided{[]string{strings.ToLower(longest)}, whole(regexp.QuoteMeta(strings.ToLower(p)))})
	}
	for _, s := range senses() {
		if s.find != "" {
			list = append(list, avoided{strings.Fields(s.words), whole(s.find)})
		}
	}
	return searcher{list, whole(`(?:there|answer) is no.*|is no longer|is no slower|is no faster|is no better|is no more than|round trip`)}
}

// in returns the places in a text.
func (s searcher) in(text []byte) (places [][]int) {
	text = bytes.ToLower(text)
	for _, a := range s.list {
		found := map[int]bool{}
		for _, word := range a.words {
			for at := 0; ; at += len(word) {
				i := bytes.Index(text[at:], []byte(word))
				if i < 0 {
					break
				}
				at += i
				from := max(0, at-near)
				for _, m := range a.find.FindAllIndex(text[from:min(len(text), at+len(word)+near)], -1) {
					start, end := from+m[0], from+m[1]
					if !found[start] && !s.right.Match(text[max(0, start-len("there // ")):min(len(text), end+len(" than"))]) {
						found[start] = true
						places = append(places, []int{start, end})
					}
				}
			}
		}
	}
	return places
}

// whole returns an expression for whole words, also where a line of a comment ends within them.
func whole(words string) *regexp.Regexp {
	return regexp.MustCompile(`\b(?:` + strings.ReplaceAll(words, " ", `(?:\s|//|\*)+`) + `)\b`)
}

// glossary returns the phrases on the left of the table of words that are wrong in every sense.
func glossary(page string) (phrases []string) {
	for _, cell := range cells(page) {
		cell = cell[strings.LastIndexByte(cell, ')')+1:]
		for phrase := range strings.SplitSeq(strings.ReplaceAll(cell, "`", ""), ",") {
			if phrase = strings.TrimSpace(phrase); phrase != "" {
				phrases = append(phrases, phrase)
			}
		}
	}
	return phrases
}

// cells returns the left cells of the table of words.
func cells(page string) (list []string) {
	_, table, _ := strings.Cut(page, "| not | but |\n|---|---|\n")
	for line := range strings.Lines(table) {
		row := strings.Split(line, "|")
		if len(row) < 4 {
			break
		}
		list = append(list, strings.TrimSpace(row[1]))
	}
	return list
}

// TestGlossary: the search finds the words of each row of the table, but not in another sense.
func TestGlossary(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows, known, all := cells(string(page)), senses(), avoid(glossary(string(page)))
	for _, phrase := range glossary(string(page)) {
		if all.in([]byte("it "+phrase+" then")) == nil {
			t.Errorf("%q is not found", phrase)
		}
	}
	for _, row := range rows {
		if _, ok := known[row]; !ok && strings.Contains(row, "(") {
			t.Errorf("%q: no expression for the sense in parentheses", row)
		}
	}
	for row, s := range known {
		if !slices.Contains(rows, row) {
			t.Errorf("%q is not in the table", row)
		}
		if s.find == "" {
			continue
		}
		if whole(s.find).FindString(s.wrong) == "" || all.in([]byte(s.wrong)) == nil || all.in([]byte(s.right)) != nil {
			t.Errorf("%q: %q must be found, and %q must not", row, s.wrong, s.right)
		}
	}
	got := glossary("x\n\n| not | but |\n|---|---|\n| dear, costly (a price), too dear | expensive |\n| goes behind `--` | goes after `--` |\n\n| a | b |\n|---|---|\n| c | d |\n")
	if want := []string{"too dear", "goes behind --"}; !slices.Equal(got, want) {
		t.Fatalf("%q, want %q", got, want)
	}
	find := avoid([]string{"too dear", "anew"})
	for text, want := range map[string]bool{"It is Too dear.": true, "is too\n\t// dear": true, "made anew,": true, "canew": false, "too dearly": false} {
		if (find.in([]byte(text)) != nil) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
}
