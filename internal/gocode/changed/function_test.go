package changed

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	m := release(t, "v1.0.0", `-- a.go --
package m
type T[K any] struct{}
func (t *T[K]) F() { func() {}() }
func F() {}
func G[K any]() {}
-- sub/b.go --
package sub
func F() {}
-- sub/v2.x/c.go --
package c
func F() {}
-- sub/b_test.go --
package sub
func H() {}
-- broken.go --
package m
func B( {
`)
	for name, want := range map[string]string{
		"example.com/m.F":                               "a.go F",
		"example.com/m.F.func1":                         "a.go F",
		"example.com/m.F.gowrap1":                       "a.go F",
		"example.com/m.G[...]":                          "a.go G",
		"example.com/m.G[go.shape.[]a/b.X].func1":       "a.go G",
		"example.com/m.(*T[...]).F":                     "a.go (*T).F",
		"example.com/m.(*T[go.shape.string]).F.func2.1": "a.go (*T).F",
		"example.com/m.(*T).F-fm":                       "a.go (*T).F",
		"example.com/m.T.F":                             "a.go (*T).F",
		"example.com/m.F (closure 1)":                   "a.go F",
		"example.com/m/sub.F":                           "sub/b.go F",
		"example.com/m/sub/v2%2ex.F":                    "sub/v2.x/c.go F",
		"example.com/m/sub.H":                           "",
		"example.com/m.B":                               "",
		"example.com/m.glob..func1":                     "",
		"example.com/m2.F":                              "",
		"example.com/m/../m.F":                          "",
		"main":                                          "",
		"":                                              "",
	} {
		c, err := Function(m, m, name)
		got := ""
		if err == nil {
			got = c.File + " " + c.Name
			if !c.Same || c.tells() {
				t.Errorf("%s differs from itself: %+v", name, c)
			}
		}
		if got != want {
			t.Errorf("%q is %q (%v), want %q", name, got, err, want)
		}
	}
}

func TestInside(t *testing.T) {
	old := `package m
import ("regexp"; "example.com/m/sub")
func F(s string) bool { return find(s) && sub.G(s) }
func find(s string) bool { return regexp.MustCompile("a").MatchString(s) }
-- sub/s.go --
package sub
func G(s string) bool { return string([]byte(s)) == s }
`
	new := strings.NewReplacer(`regexp.MustCompile("a")`, "re", "string([]byte(s)) == s", "true",
		"func find", "var re = regexp.MustCompile(\"a\")\nfunc find").Replace(old)
	c := compare(t, "-- m.go --\n"+old, "-- m.go --\n"+new, "example.com/m.F")
	if !c.Same || len(c.Inside) != 2 || c.Inside[0].Name != "find" || c.Inside[1].Name != "G" || c.Inside[1].File != "sub/s.go" {
		t.Fatalf("%+v", c)
	}
	gone, now := c.Words(nil)
	if gone != "find, which it calls, no longer calls regexp.MustCompile (line 4) or MatchString (line 4). G, which it calls, no longer converts []byte(s) to string (line 2), or converts s to []byte (line 2)." ||
		now != "find uses the new package variable re (regexp.MustCompile(\"a\")), and calls re.MatchString." {
		t.Errorf("%s\n%s", gone, now)
	}
}

func TestRemoved(t *testing.T) {
	old := "package m\ntype T struct{}\nfunc (T) Take() { for {} }\nfunc F() { for { split() } }\nfunc split() {}"
	new := "package m\ntype U struct{}\nfunc (U) Take() {}\nfunc F() {}"
	c := compare(t, old, new, "example.com/m.split")
	if !c.Removed || len(c.Inside) != 1 || c.Inside[0].Name != "F" || c.Inside[0].Role != RoleCaller {
		t.Errorf("%+v", c)
	}
	c = compare(t, old, new, "example.com/m.T.Take")
	if !c.Removed || len(c.Inside) != 1 || c.Inside[0].Name != "U.Take" || c.Inside[0].Role != RoleNamesake {
		t.Errorf("%+v", c)
	}
}

// TestCallers: the function is the same, but is no longer called.
func TestCallers(t *testing.T) {
	c := compare(t, "package m\nfunc F() { id() }\nfunc G() { id() }\nfunc id() {}",
		"package m\nfunc F() { }\nfunc G() { id() }\nfunc id() {}", "example.com/m.id")
	if !c.Same || len(c.Inside) != 1 || c.Inside[0].Name != "F" {
		t.Errorf("%+v", c)
	}
}

// TestGuarded: the function is the same, but is called only under a condition.
func TestGuarded(t *testing.T) {
	c := compare(t, "package m\nfunc F(s []int) { a(); id() }\nfunc id() {}\nfunc a() {}",
		"package m\nfunc F(s []int) { if len(s) > 9 { return }; a(); id() }\nfunc id() {}\nfunc a() {}", "example.com/m.id")
	if _, now := c.Words(nil); len(c.Inside) != 1 || now != "F, which calls it, returns early if len(s) > 9." {
		t.Errorf("%q %+v", now, c)
	}
}

// TestBuildConstraints: of functions for several systems, those of the same file are compared.
func TestBuildConstraints(t *testing.T) {
	old := "-- f_b.go --\npackage m\nfunc F() { a() }"
	new := "-- f_a.go --\npackage m\nfunc F() { a(); b(); c() }\n-- f_b.go --\npackage m\nfunc F() { a() }"
	if c := compare(t, old, new, "example.com/m.F"); !c.Same || c.NewFile != "f_b.go" {
		t.Errorf("%+v", c)
	}
}

func TestComments(t *testing.T) {
	c := compare(t, "package m\n// F does it.\nfunc F() { a() }", `package m
// F does it.
func F() {
	// This is another way.
	// It avoids an allocation. Nobody knows!
	b()
}`, "example.com/m.F")
	if !slices.Equal(c.Comments, []string{"It avoids an allocation."}) {
		t.Errorf("%q", c.Comments)
	}
	if c.New[0].Comment != "This is another way." {
		t.Errorf("%+v", c.New)
	}
}

func TestDiff(t *testing.T) {
	var a, b []string
	for i := range 60 {
		line := fmt.Sprint("line ", i)
		a = append(a, line)
		switch {
		case i == 5:
			b = append(b, "changed")
		case i >= 30 && i < 50:
			b = append(b, line+"!")
		default:
			b = append(b, line)
		}
	}
	all := diffLines(a, b)
	for _, side := range []struct {
		op   byte
		text []string
	}{{'+', a}, {'-', b}} {
		var got []string
		for _, l := range all {
			if l.Op != side.op {
				got = append(got, l.Text)
			}
		}
		if !slices.Equal(got, side.text) {
			t.Errorf("without %c: %q", side.op, got)
		}
	}
	list := hunks(all)
	if len(list) != 2 || len(list[0]) != 6 {
		t.Errorf("%d hunks: %+v", len(list), list)
	}
	if got := largest(list); len(got) != maxDiff || got[0].Old != 29 {
		t.Errorf("%d lines: %+v", len(got), got)
	}
}

func TestWeight(t *testing.T) {
	c := compare(t, "package m\nfunc F() {\na()\nb()\nregexp.MustCompile(`a`)\nd()\n}", "package m\nfunc F() {}", "example.com/m.F")
	gone, _ := c.Words(func(_ string, line int, _ bool) Measured { return Measured{Cost: float64(line % 5)} })
	if want := "It no longer calls b (line 4), a (line 3) or d (line 6)."; gone != want {
		t.Errorf("%s", gone)
	}
	if gone, _ = c.Words(nil); !strings.HasPrefix(gone, "It no longer calls regexp.MustCompile") {
		t.Errorf("%s", gone)
	}
}

// TestMeasure: what was measured of lines stands with them, once, and callees without cost are left
// out.
func TestMeasure(t *testing.T) {
	c := compare(t, "package m\nfunc F(l []string) {\nfor range l {\nregexp.MustCompile(`a`)\n}\nregexp.MustCompile(`b`); a()\nG()\nH()\n}\nfunc G() {\nsort.Ints(nil)\n}\nfunc H() {\njson.Marshal(nil)\n}",
		"package m\nfunc F(l []string) {\nG()\nH()\n}\nfunc G() {}\nfunc H() {}", "example.com/m.F")
	lines := map[int]Measured{4: {Cost: 8, Note: "9 times"}, 6: {Cost: 1, Note: "once"}, 8: {Cost: 3}, 14: {Cost: 3}}
	gone, now := c.Words(func(file string, line int, loop bool) Measured {
		if file != "m.go" {
			t.Errorf("asked for %s", file)
		}
		if loop {
			return Measured{Note: "5 iterations"}
		}
		return lines[line]
	})
	want := "It no longer calls regexp.MustCompile (line 4: 9 times) in a loop, calls a (line 6: once), or loops over all of l (line 3: 5 iterations). H, which it calls, no longer calls json.Marshal (line 14)."
	if gone != want || now != "" {
		t.Errorf("%s | %s", gone, now)
	}
}

// TestRenamed: a function whose name has gone is compared with the one that has its code now.
func TestRenamed(t *testing.T) {
	body := "{\nvar n int\nfor i, w := range strings.Fields(s) {\nif i > 3 && w != \"\" {\nn += len(strings.ToLower(w)) + len(strings.TrimSpace(w))\n}\n}\nx := regexp.MustCompile(s)\nreturn n + x.NumSubexp()\n}"
	faster := strings.Replace(body, "regexp.MustCompile(s)", "cached(s)", 1)
	old := "package m\ntype T struct{}\nfunc (T) Count(s string) int " + body
	for name, now := range map[string]string{
		"(*U).count": "type U struct{}\nfunc (*U) count(s string) int " + faster,
		"Words":      "func Words(s string) int " + faster,
		"":           "func Words(s string) int { return len(strings.Fields(s)) }",
	} {
		c := compare(t, old, "package m\n"+now, "example.com/m.T.Count")
		gone, _ := c.Words(nil)
		if c.Now != name || c.Removed != (name == "") || name != "" && gone != "It no longer calls regexp.MustCompile (line 10)." {
			t.Errorf("%q (removed: %t), want %q: %s", c.Now, c.Removed, name, gone)
		}
	}
}

// TestBeside: what else changed in the package of a function.
func TestBeside(t *testing.T) {
	old := release(t, "v1.0.0", "package m\nfunc F() {}\nfunc G(l []string) {\nfor _, s := range l {\nregexp.MustCompile(s)\n}\n}\nfunc H() { a() }\nfunc I() {}")
	new := release(t, "v1.1.0", "package m\nfunc F() { x() }\nfunc G(l []string) {}\nfunc H() { b() }\nfunc I() {}")
	list, err := Beside(old, new, "example.com/m.F")
	if err != nil || len(list) != 1 || list[0].Name != "G" {
		t.Fatalf("%+v, %v", list, err)
	}
	if _, err := Beside(old, new, "example.com/m.Nothing"); err == nil {
		t.Error("no error for a function that is not there")
	}
}

func TestMissing(t *testing.T) {
	m := release(t, "v1.0.0", "package m\nfunc F() {}")
	gone := m
	gone.Dir += "/none"
	for _, pair := range [][2]Release{{m, gone}, {gone, m}} {
		if _, err := Function(pair[0], pair[1], "example.com/m.F"); err == nil || !strings.Contains(err.Error(), "no source of") {
			t.Errorf("%v", err)
		}
	}
	if Notes(gone, "v0.1.0", nil) != nil {
		t.Error("notes of a missing directory")
	}
}

// TestBounds: files that are too large and directories with too many files are left out.
func TestBounds(t *testing.T) {
	large := release(t, "v1.0.0", "package m\nfunc F() {}\n//"+strings.Repeat("x", maxFileBytes))
	if _, err := Function(large, large, "example.com/m.F"); err == nil {
		t.Error("a large file is read")
	}
	many := release(t, "v1.0.0", "package m\nfunc F() {}")
	for i := range maxFiles {
		if err := os.WriteFile(filepath.Join(many.Dir, fmt.Sprint(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Function(many, many, "example.com/m.F"); err == nil || Notes(many, "v0.1.0", nil) != nil {
		t.Error("a directory with too many files is read")
	}
}

// TestManyConditions: the time and memory of large functions stay bounded.
func TestManyConditions(t *testing.T) {
	source := func(call string) string {
		return "package m\nfunc F(n int) {\n" + strings.Repeat("if n > 0 { return }\n"+call+"(n)\n", 5000) + "}"
	}
	c := compare(t, source("a"), source("b"), "example.com/m.F")
	if len(c.Gone) == 0 || len(c.Gone) > maxFacts || len(c.Diff) > maxDiff {
		t.Errorf("%d facts, %d lines", len(c.Gone), len(c.Diff))
	}
}
