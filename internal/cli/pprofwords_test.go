package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestPprofWords(t *testing.T) {
	for _, tc := range []struct{ typed, want string }{
		{"-top -cum cpu.pprof", "top -cum cpu.pprof"},
		{"-cum --top -nodecount=5 prog cpu.pprof", "top -cum -nodecount=5 prog cpu.pprof"},
		{"-text cpu.pprof", "top cpu.pprof"},
		{"-list=main.f -lines cpu.pprof", "list main.f -lines cpu.pprof"},
		{"-peek a=b cpu.pprof", "peek a=b cpu.pprof"},
		{"-sample_index=alloc_space -svg heap.pprof", "graph -format=svg -sample_index=alloc_space heap.pprof"},
		{"top -list cpu.pprof", "top -list cpu.pprof"},
		{"-nosuch cpu.pprof", "-nosuch cpu.pprof"},
		{"-list", "list"},
		{"", ""},
	} {
		if got := strings.Join(pprofWords(strings.Fields(tc.typed)), " "); got != tc.want {
			t.Errorf("%q: got %q, want %q", tc.typed, got, tc.want)
		}
	}
}

func TestPprofsNamesGetAHint(t *testing.T) {
	for word, want := range map[string]string{"text": "`hone top`", "web": "`hone graph -format=svg`", "kcachegrind": "`hone callgrind", "pdf": "FILE.svg"} {
		code, _, stderr := run(t, word, "x.pprof")
		if code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("hone %s: code %d, %q lacks %q", word, code, stderr, want)
		}
	}
}

// TestPprofPageNamesCommandsThatExist also compares the table of translations with the commands.
func TestPprofPageNamesCommandsThatExist(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "pprof.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`hone ([a-z]+)").FindAllStringSubmatch(string(page), -1)
	if len(named) < 10 {
		t.Fatalf("the page names %d commands", len(named))
	}
	for _, m := range named {
		if _, ok := lookup(m[1]); !ok {
			t.Errorf("docs/pprof.md names hone %s", m[1])
		}
	}
	for _, flag := range []string{"text", "weblist", "dot", "svg", "web", "list", "peek", "disasm", "top", "tree", "traces", "tags", "raw", "comments", "proto", "topproto", "callgrind"} {
		words, _ := pprofReport(flag)
		if name, _, _ := strings.Cut(words, " "); name == "" {
			t.Errorf("-%s has no command", flag)
		} else if _, ok := lookup(name); !ok {
			t.Errorf("-%s is hone %s, which is not a command", flag, name)
		}
	}
}
