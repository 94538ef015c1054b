package changed

import (
	"fmt"
	"strings"
	"testing"
)

func TestNotes(t *testing.T) {
	for name, c := range map[string]struct{ file, text, want string }{
		"keep a changelog": {"CHANGELOG.md", `# Changelog

## [Unreleased]
- Faster still

## [1.4.0] - 2020-01-01
### Fixed
- The cache of [patterns](https://example.com/p) is **used**, which avoids
  compiling them ([#12](https://example.com/12))
- New option
- ` + "`Find`" + ` returns an error (#13)

## [1.3.0] - 2019-01-01
- Performance
`, "v1.4.0 The cache of patterns is used, which avoids compiling them (#12)|v1.4.0 Find returns an error (#13)"},
		"underlined": {"HISTORY.txt", `v1.4.0 / 2020-01-01
===================

 * reduce allocations

1.3.0
-----
 * leak fixed
`, "v1.4.0 reduce allocations"},
		"rst":         {"CHANGES.rst", "=== 1.4\n\n1) Allocates less memory\n2) Other\n", "v1.4.0 Allocates less memory"},
		"bare":        {"NEWS", "v1.3.9\nfaster lists\n\nv1.5.0\nfaster maps\n", "v1.3.9 faster lists"},
		"newest last": {"CHANGELOG.md", "# v1.4.0\n- speed\n# v1.3.5\n- slow lists\n# v1.3.2\n- CPU\n# v1.3.1\n- closes\n", "v1.3.2 CPU|v1.3.5 slow lists|v1.4.0 speed"},
		"named and about cost": {"CHANGELOG.md", "## v1.4.0\n### Performance\n- Find looks at each element once\n- Sort is faster\n### Fixed\n- Find returns an error\n|a|faster|\n",
			"v1.4.0 Find looks at each element once|v1.4.0 Find returns an error"},
		"no versions": {"CHANGELOG.md", "# July\n- faster\n", ""},
		"not notes":   {"RELEASING.go", "# v1.4.0\n- speed\n", ""},
	} {
		m := release(t, "v1.4.0", "-- "+c.file+" --\n"+c.text)
		var got []string
		for _, n := range Notes(m, "v1.3.0", []string{"example.com/m.(*T).Find"}) {
			got = append(got, fmt.Sprint(n.Version, " ", n.Text))
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func FuzzNotes(f *testing.F) {
	f.Add("## [1.4.0]\n- faster [x](y)\n", "F")
	f.Add("1.4\n===\n", "")
	f.Fuzz(func(t *testing.T, text, name string) {
		for _, n := range notesIn(text, "v1.0.0", "v2.0.0", []string{name}) {
			if n.Text == "" || len(n.Text) > maxNoteBytes {
				t.Errorf("%q", n.Text)
			}
		}
	})
}

// FuzzFunction compares arbitrary sources.
func FuzzFunction(f *testing.F) {
	for _, p := range pairs {
		f.Add(p.old, p.new)
		f.Add(p.new, p.old)
	}
	f.Fuzz(func(t *testing.T, old, new string) {
		c, err := Function(release(t, "v1.0.0", "package m\n"+old), release(t, "v1.1.0", "package m\n"+new), "example.com/m.F")
		if err != nil {
			return
		}
		c.Words(func(_ string, line int, _ bool) Measured { return Measured{Cost: float64(line)} })
		if len(c.Diff) > maxDiff || len(c.Comments) > 3 {
			t.Errorf("%d lines, %d comments", len(c.Diff), len(c.Comments))
		}
	})
}
