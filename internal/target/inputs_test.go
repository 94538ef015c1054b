package target

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/live"
)

// watchedProgram calls functions of its own, of a module in the module cache and of the standard
// library.
const watchedProgram = `-- go.mod --
module example.com/app

go 1.23
-- part/part.v1/part.go --
package part

type Box struct{ n int }

func (b *Box) Double(n int, _ bool) int { return b.n * n }

func Exec(query string, args ...any) int { return ExecContext(query, args...) }

func ExecContext(query string, args ...any) int { return len(args) }

func Sum[T int | string](all []T, odd map[string]int) (t T) {
	for _, x := range all {
		t += x
	}
	return t
}
-- main.go --
package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"text/template"

	"example.com/app/part/part.v1"
)

func main() {
	for i := 0; i < 60; i++ {
		template.Must(template.New("page").Parse(strings.Repeat("{{.}}", 1+i%3)))
		text(fmt.Sprint(i))
		(&part.Box{}).Double(i%2, true)
		part.Sum([]int{1, i % 5}, nil)
		part.Sum([]string{"a"}, nil)
		deep(10)
		same(i % 3)
		next(i % 3)
		other(i % 3)
		d.asked(i % 3)
		state(i%3, i/30)
		part.Exec("set", i/40, i%4)
	}
	for i := 0; i < 30000; i++ {
		many(i)
	}
	for i := 0; i < 10; i++ {
		trim("")
		trim(" left")
		trim(fmt.Sprintf("%064d", i))
		trim(strings.Repeat("ä", 31) + fmt.Sprint(i))
	}
	record := &log{}
	for i := 0; i < 20; i++ {
		record.text = append(record.text, strings.Repeat(string(rune('a'+i)), 100)...)
		record.scan(record.text)
	}
	for i, parsed := 0, (&log{}); i < 10; i++ {
		parsed.scan(record.text[10*i:])
	}
	for i := 0; i < 3; i++ {
		met.Add(3)
		filling.Add(3)
		nest()
		ended := make(chan bool)
		for j := 0; j < 3; j++ {
			go func() { together(j%2); fill(); ended <- true }()
		}
		<-ended
		<-ended
		<-ended
	}
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { 
		text(r.RequestURI)
		done := make(chan bool)
		go func() { text(r.RequestURI); close(done) }()
		<-done
		inner(w, r.WithContext(r.Context()))
		page := strings.Repeat("line of the page, ", 10) + r.RemoteAddr + fmt.Sprint(len(all))
		all = append(all, page)
		read(strings.NewReader(page))
		read(bytes.NewReader([]byte(page)))
		check([]byte(page))
		find(page, "line")
		find(page, "page")
		for i := range 2000 {
			often(i)
		}
	})
	for i := 0; i < 10; i++ {
		h(httptest.NewRecorder(), httptest.NewRequest("GET", fmt.Sprint("/", i%4), nil))
	}
}

var all []string

type answer struct {
	words []string
	next  *answer
}

func read(r io.Reader) (*answer, error) {
	text, err := io.ReadAll(r)
	return &answer{strings.Fields(string(text)), &answer{}}, err
}

func check(text []byte) (bool, int) { return len(text) > 0, len(all) / 5 }

func find(text, word string) (at int, err error) {
	at = strings.Index(text, word)
	return
}

func often(n int) bool { return n%3 == 0 }

var met, filling sync.WaitGroup

// together waits until all three that are called at the same time are.
func together(n int) int { met.Done(); met.Wait(); return n }

// nest calls itself with the same input: none.
func nest() {
	if calls++; calls%3 != 0 {
		nest()
	}
}

// fill has neither parameters nor results.
func fill() { filling.Done(); filling.Wait() }

//go:noinline
func same(n int) (answer, map[int]bool) { return answer{words: []string{"same"}}, map[int]bool{n: true} }

func state(id, value int) int { return calls }


func other(n int) func() {
	calls++
	return func() {}
}

type desk struct{ asks int }

var d = &desk{}

func (d *desk) asked(n int) int { d.asks++; return n + 1 }

func next(n int) int { calls++; return calls }

var calls int

func inner(w http.ResponseWriter, r *http.Request) { text(r.RequestURI) }

func text(s string) int { return len(s) }

func many(i int) int { return i }

func trim(s string) (string, error) { return strings.TrimSpace(s), nil }

type log struct{ text []byte }

func (l *log) scan(text []byte) int { return len(text) }

func deep(n int) int {
	if n == 0 {
		return 0
	}
	return deep(n-1)
}
`

// lineOf returns the line of a program's file that contains a text.
func lineOf(t *testing.T, file, text string) int {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	i := strings.Index(string(src), text)
	if i < 0 {
		t.Fatalf("%s has no %q", file, text)
	}
	return 1 + strings.Count(string(src[:i]), "\n")
}

func TestCountsInputs(t *testing.T) {
	live.Only(t)
	dir := tree(t, watchedProgram)
	goroot := strings.TrimSpace(string(must(goCommand{path: "go", dir: dir}.run(context.Background(), "env", "GOROOT"))(t)))
	main, part := filepath.Join(dir, "main.go"), filepath.Join(dir, "part", "part.v1", "part.go")
	templates := filepath.Join(goroot, "src", "text", "template", "template.go")
	funcs := []Func{
		{Name: "main.text", Package: "example.com/app", File: main, Line: lineOf(t, main, "func text(")},
		{Name: "main.many", Package: "example.com/app", File: main, Line: lineOf(t, main, "func many(")},
		{Name: "main.deep", Package: "example.com/app", File: main, Line: lineOf(t, main, "func deep(")},
		{Name: "main.main.func1", Package: "example.com/app", File: main, Line: lineOf(t, main, "func(w http")},
		{Name: "main.inner", Package: "example.com/app", File: main, Line: lineOf(t, main, "func inner(")},
		{Name: "example.com/app/part/part%2ev1.(*Box).Double", Package: "example.com/app/part/part.v1", File: part, Line: lineOf(t, part, "func (b *Box)")},
		{Name: "example.com/app/part/part%2ev1.Sum[...]", Package: "example.com/app/part/part.v1", File: part, Line: lineOf(t, part, "func Sum")},
		{Name: "text/template.(*Template).Parse", Package: "text/template", File: templates, Line: lineOf(t, templates, "func (t *Template) Parse(")},
		{Name: "main.read", Package: "example.com/app", File: main, Line: lineOf(t, main, "func read(")},
		{Name: "main.check", Package: "example.com/app", File: main, Line: lineOf(t, main, "func check(")},
		{Name: "main.find", Package: "example.com/app", File: main, Line: lineOf(t, main, "func find(")},
		{Name: "main.same", Package: "example.com/app", File: main, Line: lineOf(t, main, "func same(")},
		{Name: "main.(*desk).asked", Package: "example.com/app", File: main, Line: lineOf(t, main, "func (d *desk) asked(")},
		{Name: "main.next", Package: "example.com/app", File: main, Line: lineOf(t, main, "func next(")},
		{Name: "main.other", Package: "example.com/app", File: main, Line: lineOf(t, main, "func other(")},
		{Name: "main.together", Package: "example.com/app", File: main, Line: lineOf(t, main, "func together(")},
		{Name: "main.fill", Package: "example.com/app", File: main, Line: lineOf(t, main, "func fill(")},
		{Name: "main.nest", Package: "example.com/app", File: main, Line: lineOf(t, main, "func nest(")},
		{Name: "main.state", Package: "example.com/app", File: main, Line: lineOf(t, main, "func state(")},
		{Name: "example.com/app/part/part%2ev1.ExecContext", Package: "example.com/app/part/part.v1", File: part, Line: lineOf(t, part, "func ExecContext(")},
		{Name: "main.often", Package: "example.com/app", File: main, Line: lineOf(t, main, "func often(")},
		{Name: "main.trim", Package: "example.com/app", File: main, Line: lineOf(t, main, "func trim(")},
		{Name: "main.(*log).scan", Package: "example.com/app", File: main, Line: lineOf(t, main, "func (l *log) scan(")},
		{Name: "main.gone", Package: "example.com/app", File: main, Line: 1},
	}
	b := mustBuild(t, BuildSpec{Package: ".", Dir: dir, Inputs: funcs})
	p := mustStart(t, b, RunSpec{Collect: Collect{Inputs: true}})
	if e := finish(t, p); e.Failure() != "" {
		t.Fatal(e.Failure())
	}
	parts, missing := p.Parts()
	if len(missing) > 0 {
		t.Fatal(missing)
	}
	got := map[string]string{}
	again, values := map[string]string{}, map[string]string{}
	also := 0
	for i, line := range strings.Split(strings.TrimSpace(string(parts[PartInputs])), "\n") {
		words := strings.Fields(line)
		var id, to, n int
		switch {
		case i == 0:
			got["head"] = line
		case words[0] == "also":
			fmt.Sscan(strings.Join(words[1:], " "), &id, &to, &n)
			if n != 10 || b.Watched[id].Name != "main.read" || b.Watched[to].Name != "main.check" && b.Watched[to].Name != "main.find" {
				t.Errorf("the same text: %s", line)
			}
			also++
		case words[0] == "given", words[0] == "returned":
			fmt.Sscan(words[1], &id)
			values[strings.Join([]string{words[0], words[2], b.Watched[id].Name}, " ")] = strings.Join(words[3:], " ")
		case words[0] == "site":
			fmt.Sscan(words[1], &id)
			again[b.Watched[id].Name+" "+words[2]] = strings.Join(words[3:], " ")
		default:
			fmt.Sscan(words[0], &id)
			got[b.Watched[id].Name] = strings.Join(words[1:21], " ")
			again[b.Watched[id].Name] = strings.Join(words[34:44], " ")
		}
	}
	if also != 2 {
		t.Errorf("%d pairs of functions that got the same text", also)
	}
	// The numbers are: calls, hashed, different, different with addresses, in requests, different
	// in each; different of receivers by address, and in requests; calls with texts, different
	// ones, both in requests; results compared, same; overlapping; stopped; requests that led to
	// calls; and the first three parameters.
	for name, want := range map[string]string{
		"head":                            "requests 10 4",
		"main.text":                       "90 90 64 64 30 10 64 10 0 0 0 0 26 26 0 0 4 0 0 0",
		"main.main.func1":                 "10 10 1 10 10 10 10 10 0 0 0 0 0 0 0 0 4 1 1 0",
		"main.deep":                       "660 660 11 11 0 0 11 0 0 0 0 0 649 649 0 0 0 0 0 0",
		"main.same":                       "60 60 3 3 0 0 3 0 0 0 0 0 57 57 0 0 0 0 0 0",
		"main.(*desk).asked":              "60 60 3 60 0 0 3 0 0 0 0 0 57 57 0 0 0 0 0 0",
		"main.next":                       "60 60 3 3 0 0 3 0 0 0 0 0 57 0 0 0 0 0 0 0",
		"main.other":                      "60 60 3 3 0 0 3 0 0 0 0 0 0 0 0 0 0 0 0 0",
		"main.read":                       "20 20 10 10 20 10 10 10 20 10 20 10 10 10 0 0 4 0 0 0",
		"main.check":                      "10 10 10 10 10 10 10 10 10 10 10 10 0 0 0 0 4 0 0 0",
		"main.find":                       "20 20 20 20 20 20 20 20 20 10 20 10 0 0 0 0 4 0 0 0",
		"text/template.(*Template).Parse": "60 60 3 60 0 0 60 0 0 0 0 0 0 0 0 0 0 0 0 0",
		"example.com/app/part/part%2ev1.(*Box).Double": "60 60 2",
		"example.com/app/part/part%2ev1.Sum[...]":      "120 120 6 6 0 0 6 0 0 0 0 0 114 114 0 0 0 0 1 0",
		"main.together": "9 9 2 2 0 0 2 0 0 0 0 0 7 7 3 0 0 0 0 0",
		"main.nest":     "9 9 1 1 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0",
		"main.fill":     "9 9 1 1 0 0 1 0 0 0 0 0 0 0 6 0 0 0 0 0",
	} {
		if !strings.HasPrefix(got[name], want) {
			t.Errorf("%s: %s, want %s", name, got[name], want)
		}
	}
	// Calls that follow one with the same key, and how many of them have the same input as that:
	// for no key, for each parameter, and for the elements of the last one.
	for name, want := range map[string]string{
		"main.state": "59 0 57 54 58 0 0 0 0 0", // three objects, each changed once
		"example.com/app/part/part%2ev1.ExecContext": "59 0 59 0 58 0 56 52 0 0",
		"main.text": "89 20 26 26 0 0 0 0 0 0",
	} {
		if again[name] != want {
			t.Errorf("%s: %s, want %s", name, again[name], want)
		}
	}
	site := fmt.Sprint("example.com/app/part/part%2ev1.ExecContext ", lineOf(t, main, "part.Exec("))
	if want := "59 0 59 0 58 0 56 52 0 0 0 0 0 0 0 0 0 0 " + main; again[site] != want {
		t.Errorf("%s: %q, want %q", site, again[site], want)
	}
	// How many, empty, length, texts, ASCII, returned unchanged; grown, their bytes, new bytes;
	// returned before; the rest of the last text.
	for name, want := range map[string]string{
		"given 0 main.text":        "90 0 170 90 90 0 0 0 0 0 0",
		"returned 0 main.text":     "90 0 0 0 0 0 0 0 0 0 0",
		"given 0 main.trim":        "40 10 1320 30 20 0 0 0 0 0 0",
		"returned 0 main.trim":     "40 10 1310 30 20 20 0 0 0 0 0",
		"returned 1 main.trim":     "40 40 0 0 0 0 0 0 0 0 0",
		"given 0 main.(*log).scan": "30 0 40550 30 30 0 19 20900 1900 0 9",
		"given 0 main.check":       "10 0 1950 10 10 0 0 0 0 0 0",
		"returned 0 main.check":    "10 0 0 0 0 0 0 0 0 0 0",
	} {
		if values[name] != want {
			t.Errorf("%s: %q, want %q", name, values[name], want)
		}
	}
	var calls, hashed, different int
	fmt.Sscan(got["main.many"], &calls, &hashed, &different)
	if calls != 30000 || different < 27000 || different > 33000 {
		t.Errorf("many: %s", got["main.many"])
	}
	// 20,000 calls in 10 requests are not all examined.
	numbers := strings.Fields(got["main.often"])
	fmt.Sscan(numbers[0], &calls)
	stopped := must(strconv.Atoi(numbers[15]))(t)
	if calls > 1<<14 || stopped < 1 || stopped > 11 || calls <= 64*(stopped-1) {
		t.Errorf("often: %s", got["main.often"])
	}
	if slices.ContainsFunc(b.Watched, func(f Func) bool { return f.Name == "main.gone" }) {
		t.Error("a function that is not there is watched")
	}
}

// busyProgram exits while goroutines call a watched function with a long text.
const busyProgram = `-- go.mod --
module example.com/app

go 1.23
-- main.go --
package main

import (
	"strings"
	"time"
)

func main() {
	for i := 0; i < 8; i++ {
		go func() {
			for {
				text(strings.Repeat("text ", 20))
			}
		}()
	}
	time.Sleep(50 * time.Millisecond)
}

func text(s string) int { return len(s) }
`

// TestCountsInputsWhileCalled reads the counts of a function while goroutines call it: they are
// consistent.
func TestCountsInputsWhileCalled(t *testing.T) {
	live.Only(t)
	dir := tree(t, busyProgram)
	main := filepath.Join(dir, "main.go")
	b := mustBuild(t, BuildSpec{Package: ".", Dir: dir, Inputs: []Func{
		{Name: "main.text", Package: "example.com/app", File: main, Line: lineOf(t, main, "func text(")},
	}})
	p := mustStart(t, b, RunSpec{Collect: Collect{Inputs: true}})
	if e := finish(t, p); e.Failure() != "" {
		t.Fatal(e.Failure())
	}
	parts, missing := p.Parts()
	if len(missing) > 0 {
		t.Fatal(missing)
	}
	lines := strings.Split(string(parts[PartInputs]), "\n")
	var id, calls, skip, texts int
	if n, err := fmt.Sscan(lines[1], &id, &calls, &skip, &skip, &skip, &skip, &skip, &skip, &skip, &texts); err != nil {
		t.Fatalf("%d numbers of %q: %v", n, lines[1], err)
	}
	if calls == 0 || texts != calls {
		t.Errorf("%d calls with a text each, %d texts", calls, texts)
	}
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestInputsRefuse: builds that do not work with the compiler wrapper, and functions that do not
// exist.
func TestInputsRefuse(t *testing.T) {
	dir := tree(t, "-- go.mod --\nmodule example.com/app\n\ngo 1.23\n-- main.go --\npackage main\n\nfunc main() { f(1) }\n\nfunc f(n int) {}\n")
	main := Func{Name: "main.f", Package: "example.com/app", File: filepath.Join(dir, "main.go"), Line: 5}
	elsewhere := main
	elsewhere.File = filepath.Join(t.TempDir(), "main.go")
	for want, s := range map[string]BuildSpec{
		"-race":                  {Inputs: []Func{main}, BuildFlags: []string{"-race"}},
		"-toolexec=x":            {Inputs: []Func{main}, BuildFlags: []string{"-toolexec=x"}},
		"can be watched":         {Inputs: []Func{{Name: "main.g", Package: main.Package, File: main.File, Line: 1}}},
		"functions can be watch": {Inputs: []Func{elsewhere}},
	} {
		s.Package, s.Dir, s.WorkDir = ".", dir, t.TempDir()
		if _, err := Build(context.Background(), s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestLinkerPath(t *testing.T) {
	for path, want := range map[string]string{
		"main": "main", "text/template": "text/template", "gopkg.in/yaml.v3": "gopkg.in/yaml%2ev3", "example.com/a.b/c": "example.com/a.b/c",
	} {
		if got := linkerPath(path); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
}
