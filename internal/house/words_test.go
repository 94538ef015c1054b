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
	avoided, err := regexp.Compile(avoid(glossary(string(page))))
	if err != nil {
		t.Fatal(err)
	}
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
		for _, at := range avoided.FindAllIndex(text, -1) {
			t.Errorf("%s:%d: %q: CONTRIBUTING.md says what to write instead", name, 1+bytes.Count(text[:at[0]], []byte("\n")), text[at[0]:at[1]])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// glossary returns the phrases on the left of the table of words. Those before a sense in
// parentheses are right in another one, which a search cannot tell.
func glossary(page string) (phrases []string) {
	_, table, _ := strings.Cut(page, "| not | but |\n|---|---|\n")
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			break
		}
		cell := cells[1][strings.LastIndexByte(cells[1], ')')+1:]
		for phrase := range strings.SplitSeq(strings.ReplaceAll(cell, "`", ""), ",") {
			if phrase = strings.TrimSpace(phrase); phrase != "" {
				phrases = append(phrases, phrase)
			}
		}
	}
	return phrases
}

// avoid returns an expression for whole phrases, in capitals or not, also where a line of a comment
// ends within one.
func avoid(phrases []string) string {
	words := make([]string, len(phrases))
	for i, p := range phrases {
		words[i] = strings.ReplaceAll(regexp.QuoteMeta(p), " ", `(?:\s|//|\*)+`)
	}
	return `(?i)\b(?:` + strings.Join(words, "|") + `)\b`
}

func TestGlossary(t *testing.T) {
	got := glossary("x\n\n| not | but |\n|---|---|\n| dear, costly (a price), too dear | expensive |\n| goes behind `--` | goes after `--` |\n\n| a | b |\n|---|---|\n| c | d |\n")
	if want := []string{"too dear", "goes behind --"}; !slices.Equal(got, want) {
		t.Fatalf("%q, want %q", got, want)
	}
	avoided := regexp.MustCompile(avoid([]string{"too dear", "anew"}))
	for text, want := range map[string]bool{"It is Too dear.": true, "is too\n\t// dear": true, "made anew,": true, "canew": false, "too dearly": false} {
		if avoided.MatchString(text) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
}
