package prompt

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	for _, tc := range []struct {
		line string
		want Line
	}{
		{"", Line{}},
		{"  # a comment", Line{}},
		{"top 5 -cum", Line{Words: []string{"top", "5", "-cum"}}},
		{`list main\.a|main\.b`, Line{Words: []string{"list", `main\.a|main\.b`}}},
		{"list 'a b'\"c\"", Line{Words: []string{"list", "a bc"}}},
		{"top ''", Line{Words: []string{"top", ""}}},
		{"top >out.txt -cum", Line{Words: []string{"top", "-cum"}, File: "out.txt"}},
		{"top > 'my out'", Line{Words: []string{"top"}, File: "my out"}},
		{"top | grep 'a | b' > x", Line{Words: []string{"top"}, Pipe: "grep 'a | b' > x"}},
		{"top |less", Line{Words: []string{"top"}, Pipe: "less"}},
		{"focus 'a>b' c>d", Line{Words: []string{"focus", "a>b", "c>d"}}},
	} {
		got, err := Parse(tc.line)
		if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", tc.line, err, diff)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for line, want := range map[string]string{
		"top |": "no program", "top >": "no file", "top >> x": "replaces",
		"list 'a": "unfinished ' quote", "top > 'x": "unfinished", "top > x | less": "not to both",
	} {
		if _, err := Parse(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v lacks %q", line, err, want)
		}
	}
}

// TestParseKeepsQuotedWords: every word that is quoted is parsed to itself.
func TestParseKeepsQuotedWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[^'\x00]{0,8}`), 1, 5).Draw(t, "words")
		l, err := Parse("'" + strings.Join(words, "' '") + "'")
		if diff := cmp.Diff(Line{Words: words}, l); err != nil || diff != "" {
			t.Fatalf("%v %s", err, diff)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("top 5 > x | 'y")
	f.Fuzz(func(t *testing.T, line string) {
		if l, err := Parse(line); err == nil && l.File != "" && l.Pipe != "" {
			t.Errorf("%q: both a file and a program", line)
		}
	})
}

func TestComplete(t *testing.T) {
	commands := []string{"top", "topproto", "traces", "tree"}
	names := func(before []string, word string) (found []string) {
		all := commands
		if len(before) > 0 {
			all = []string{"main.größe", "main.grau", "sample_index=", "runtime.main.x"}
		}
		for _, n := range all {
			if strings.Contains(n, word) {
				found = append(found, n)
			}
		}
		return found
	}
	for _, tc := range []struct{ line, want, choices string }{
		{"tra^", "traces ^", ""},
		{"to^", "top^", "top topproto"},
		{"xx^", "xx^", ""},
		{"tre^ 5", "tree^ 5", ""},
		{"top main.gr^", "top main.gr^", "main.größe main.grau"},
		{"top main^", "top main^", "main.größe main.grau runtime.main.x"},
		{"top samp^", "top sample_index=^", ""},
		{"top ß^", "top main.größe ^", ""},
		{"^", "t^", "top topproto traces tree"},
	} {
		pos := strings.Index(tc.line, "^")
		c := Complete(strings.Replace(tc.line, "^", "", 1), pos, names)
		if got := c.Line[:c.Pos] + "^" + c.Line[c.Pos:]; got != tc.want || strings.Join(c.Choices, " ") != tc.choices {
			t.Errorf("%s: %s %q, want %s %q", tc.line, got, c.Choices, tc.want, tc.choices)
		}
	}
}

func TestHistory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "history")
	h, err := OpenHistory(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"top", "top", "", "  list x ", "top"} {
		h.Add(line)
	}
	again, err := OpenHistory(file)
	if err != nil || h.Err() != nil {
		t.Fatal(err, h.Err())
	}
	for _, h := range []*History{h, again} {
		if h.Len() != 3 || h.At(0) != "top" || h.At(1) != "list x" || h.At(2) != "top" {
			t.Errorf("history is %q", h.lines)
		}
	}
}

func TestHistoryIsBounded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	h, err := OpenHistory(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := range MaxHistory + 50 {
		h.Add(fmt.Sprint(i))
	}
	again, err := OpenHistory(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []*History{h, again} {
		if h.Len() != MaxHistory || h.At(0) != fmt.Sprint(MaxHistory+49) {
			t.Errorf("%d lines, the last one %q", h.Len(), h.At(0))
		}
	}
	data, err := os.ReadFile(file)
	if err != nil || strings.Count(string(data), "\n") != MaxHistory {
		t.Errorf("the file has %d lines, %v", strings.Count(string(data), "\n"), err)
	}
}

func TestHistoryReportsWriteErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h := &History{path: filepath.Join(file, "history")}
	h.Add("top")
	if h.Err() == nil || h.Len() != 1 {
		t.Errorf("error %v, %d lines", h.Err(), h.Len())
	}
}
