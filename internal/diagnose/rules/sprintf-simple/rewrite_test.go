package sprintfsimple

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/site"
)

const declarations = `
type word string
type id int16
type flag bool
type shown string

func (shown) String() string { return "shown" }

type pointerShown int

func (*pointerShown) String() string { return "never for the value" }

const layout = "%s/%s"

var (
	s  = "text with \"quotes\" and %d"
	w  = word("ward")
	n  = -42
	u  = uint8(200)
	i  = id(-7)
	r  = 'é'
	f  = 1e21
	g  = float32(0.1)
	h  = 123456789.0
	on = flag(true)
	ps = pointerShown(3)
	hidden = shown("x")
	err error = os.ErrNotExist
	bytes = []byte("b")
	any1 any = "boxed"
	p = &n
)
`

// simple are calls that must be rewritten, with an equal result.
var simple = []string{
	`fmt.Sprintf("%s", s)`,
	`fmt.Sprintf("%s.", w)`,
	`fmt.Sprintf("%v:%d:%v", s, n, u)`,
	`fmt.Sprintf("100%% of %d", i)`,
	`fmt.Sprintf("%v %d", r, r)`,
	`fmt.Sprintf("%v,%v,%v", f, g, h)`,
	`fmt.Sprintf("%v %v", 1e6, -0.0)`,
	`fmt.Sprintf("%t %v", on, 1 < n)`,
	`fmt.Sprintf("%q and %q", s, w)`,
	`fmt.Sprintf(layout, s, "const")`,
	`fmt.Sprintf("%d", ps)`,
	`fmt.Sprintf("no verbs")`,
	`fmt.Sprint(s, n, u, w, on)`,
	`fmt.Sprint(n, u, f)`,
	`fmt.Sprintln(s, n, on)`,
	`fmt.Sprintf("%d", n+1)`,
	`fmt.Sprintf("%x %x %x %x", n, u, i, r)`,
	`fmt.Sprintf("%s%s", s, s+"!")`,
}

// needed are calls that need fmt: nothing simpler gives the same result.
var needed = []string{
	`fmt.Sprintf("%5d", n)`,
	`fmt.Sprintf("%-5s|", s)`,
	`fmt.Sprintf("%+d", n)`,
	`fmt.Sprintf("%x", s)`,
	`fmt.Sprintf("%04x", n)`,
	`fmt.Sprintf("%08d", n)`,
	`fmt.Sprintf("%X", n)`,
	`fmt.Sprintf("%.2f", h)`,
	`fmt.Sprintf("%[2]s %[1]s", s, w)`,
	`fmt.Sprintf("%*d", 4, n)`,
	`fmt.Sprintf("%s", hidden)`,
	`fmt.Sprintf("%v", err)`,
	`fmt.Sprintf("%s", bytes)`,
	`fmt.Sprintf("%v", any1)`,
	`fmt.Sprintf("%v", p)`,
	`fmt.Sprintf("%T", n)`,
	`fmt.Sprintf("%c", r)`,
	`fmt.Sprintf("%v", 1+2i)`,
	`fmt.Sprintf(s, n)`,
	`fmt.Sprintf("%d %s", []any{n, s}...)`,
	`fmt.Sprint(s, err)`,
	`fmt.Sprint()`,
}

// TestRewrites runs what the rule proposes, and compares the result with fmt's.
func TestRewrites(t *testing.T) {
	var src strings.Builder
	src.WriteString("package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n" + declarations + "\nfunc main() {\n")
	all := append(append([]string(nil), simple...), needed...)
	for k, call := range all {
		fmt.Fprintf(&src, "\t_ = %s //@ %d\n", call, k)
	}
	src.WriteString("}\n")
	places := ruletest.Places(t, src.String())

	var program strings.Builder
	program.WriteString("package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\t\"strconv\"\n)\n" + declarations)
	program.WriteString("\nvar _ = strconv.Itoa\n\nfunc same(call, a, b string) {\n\tif a != b {\n\t\tfmt.Printf(\"%s = %q, not %q\\n\", call, a, b)\n\t}\n}\n\nfunc main() {\n")
	for k, call := range all {
		p := places[fmt.Sprint(k)]
		name := call[:strings.IndexByte(call, '(')]
		texts, ok := rewrites(p, syntax.CallsOf(p, name), name)
		if want := k < len(simple); ok != want {
			t.Errorf("%s: rewritten %t to %q, want %t", call, ok, texts, want)
			continue
		}
		if ok {
			fmt.Fprintf(&program, "\tsame(%q, %s, %s)\n", call, call, texts[0])
		}
	}
	program.WriteString("}\n")
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(program.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "run", file).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%v\n%s\n%s", err, out, program.String())
	}
}

func TestOnlyBoxing(t *testing.T) {
	places := ruletest.Places(t, `package main

import (
	"fmt"
	"strings"
)

func pure(a string) string { return a }

func show(v any) string { return fmt.Sprint(v) }

func main() {
	s, n := "a", 1
	var list []string
	_ = fmt.Sprintf("%s%d", s, n) //@ alone
	s += fmt.Sprintf("%s%d", s, n) //@ joined
	_ = fmt.Sprintf("%s%d", strings.ToUpper(s), n) //@ call without interface
	_ = fmt.Sprintf("%s%s", show(n), pure(s)) //@ another boxes
	list = append(list, fmt.Sprintf("%s%d", s, n)) //@ append
	_ = []byte(fmt.Sprintf("%s%d", s, n)) //@ conversion
	_ = []string{fmt.Sprintf("%s%d", s, n)} //@ literal
	_, _ = fmt.Sprintf("%d", n), fmt.Sprintf("%s", s) //@ two
}
`)
	for name, want := range map[string]bool{
		"alone": true, "joined": true, "call without interface": true, "another boxes": false,
		"append": false, "conversion": false, "literal": false, "two": true,
	} {
		p := places[name]
		if got := onlyBoxing(p, syntax.CallsOf(p, "fmt.Sprintf")); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestTake: if the string is written to a writer, joining it with another is part of the line's
// cost, too.
func TestTake(t *testing.T) {
	places := ruletest.Places(t, `package main

import (
	"fmt"
	"os"
)

func line(s string) string {
	s += fmt.Sprintf("%s;", s) //@ returned
	return s
}

func main() {
	s := line("a")
	s += fmt.Sprintf("%s.", s) //@ written
	os.Stdout.WriteString(s)
}
`)
	joined := &site.Row{Stack: []*site.Frame{{Function: "runtime.concatstring2"}, {Function: "main.main"}}, Owner: 1}
	at := &site.Site{CPU: []*site.Row{joined}}
	for name, want := range map[string]int{"returned": 0, "written": 1} {
		p := places[name]
		if m := take(at, p, syntax.CallsOf(p, "fmt.Sprintf"), "fmt.Sprintf"); len(m.CPU) != want {
			t.Errorf("%s: %d rows", name, len(m.CPU))
		}
	}
}
