package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile"
)

func TestBegins(t *testing.T) {
	for _, tc := range []struct {
		line, function string
		want           bool
	}{
		{"func leftpad(s string) string {", "main.leftpad", true},
		{"func other(s string) string {", "main.leftpad", false},
		{"\ts = c + s", "main.leftpad", false},
		{"func (s *StatsD) Send(x int) {", "main.(*StatsD).Send", true},
		{"func (t T) fill() {", "main.T.fill", true},
		{"func (t T) fill() {", "main.T.fill-fm", true},
		{"func (t T) other() {", "main.T.fill", false},
		{"func Map[K any](k K) {", "example.com/x.Map[...]", true},
		{"\treturn func(w W) {", "main.newHandler.func1", true},
		{"\tgo func() {", "main.newHandler.gowrap2", true},
		{"\treturn w", "main.newHandler.func1", false},
		{"\tx.Do(func() {", "main.(*T).run.func1.2", true},
	} {
		if got := begins(tc.line, tc.function); got != tc.want {
			t.Errorf("%q begins %s: %t", tc.line, tc.function, got)
		}
	}
}

// TestDistrust: a file that was written after the build is trusted if its functions are in the same
// place.
func TestDistrust(t *testing.T) {
	const source = "package main\n\nfunc main() {\n\twork()\n}\n\nfunc work() {\n}\n"
	built := time.Now().Add(-time.Hour)
	for _, tc := range []struct {
		name, text string
		when       time.Time
		note       string
		trusted    bool
	}{
		{"untouched", source, built.Add(-time.Minute), "", true},
		{"touched", source + "// more\n", built.Add(time.Minute), "changed since the build, but functions start on the same lines", true},
		{"moved", "// more\n" + source, built.Add(time.Minute), "no source, syntax or compiler facts", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "main.go")
			for name, text := range map[string]string{file: tc.text, filepath.Join(dir, "go.mod"): "module example.com/m\n\ngo 1.25\n"} {
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Chtimes(file, tc.when, tc.when); err != nil {
				t.Fatal(err)
			}
			b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"}, profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
			b.Add([]profile.FrameSpec{
				{Function: "main.work", File: file, Line: 8, StartLine: 7},
				{Function: "main.main", File: file, Line: 4, StartLine: 3},
			}, 10, 1e8)
			p, err := b.Profile()
			if err != nil {
				t.Fatal(err)
			}
			code, err := gocode.Open(t.Context(), gocode.Config{Dir: dir, ImportPath: "example.com/m", CacheDir: t.TempDir(), Built: built})
			if err != nil {
				t.Fatal(err)
			}
			table, err := site.Join(t.Context(), site.Input{CPU: p, Code: code})
			if err != nil {
				t.Fatal(err)
			}
			notes := strings.Join(distrust(t.Context(), table, code, p, nil), "; ")
			if !strings.Contains(notes, tc.note) || tc.note == "" && notes != "" {
				t.Errorf("notes: %s", notes)
			}
			if _, err := code.Lines(file, 1, 1); (err == nil) != tc.trusted || (code.Distrusted(file) == "") != tc.trusted {
				t.Errorf("lines: %v", err)
			}
		})
	}
}
