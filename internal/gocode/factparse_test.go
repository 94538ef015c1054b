package gocode

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const logHead = `{"version":0,"package":"p","goos":"linux","goarch":"amd64","gc_version":"go1.26","file":"/src/p/a b.go"}` + "\n"

func TestReadLog(t *testing.T) {
	at := func(file string, line, col int) Pos { return Pos{file, line, col} }
	const f = "/src/p/a b.go"
	for _, c := range []struct {
		name, log string
		want      []Fact
	}{
		{"a check", `{"range":{"start":{"line":3,"character":4}},"code":"isInBounds","message":""}`,
			[]Fact{{Code: "isInBounds", Chain: []Pos{at(f, 3, 4)}}}},
		{"an expression: explanation, then verdict", `{"range":{"start":{"line":3,"character":4}},"code":"escapes","message":"x escapes to heap","relatedInformation":[
{"location":{"uri":"file:///src/p/a%20b.go","range":{"start":{"line":3,"character":9}}},"message":"escflow:    flow: {heap} ← &{storage for x}:"},
{"location":{"uri":"file:///src/p/a%20b.go","range":{"start":{"line":3,"character":8}}},"message":"escflow:      from x (spill)"}]}
{"range":{"start":{"line":3,"character":4}},"code":"escape","message":""}`,
			[]Fact{{Code: "escape", Message: "x escapes to heap", Chain: []Pos{at(f, 3, 4)}, Flow: []FlowStep{
				{at(f, 3, 9), "flow: {heap} = &{storage for x}"}, {at(f, 3, 8), "from x (spill)"}}}}},
		{"a variable: no verdict", `{"range":{"start":{"line":3,"character":4}},"code":"escape","message":"x escapes to heap"}`,
			[]Fact{{Code: "escape", Message: "moved to heap: x", Chain: []Pos{at(f, 3, 4)}}}},
		{"an expression without verdict stays one", `{"range":{"start":{"line":3,"character":4}},"code":"escape","message":"func literal escapes to heap"}`,
			[]Fact{{Code: "escape", Message: "func literal escapes to heap", Chain: []Pos{at(f, 3, 4)}}}},
		{"a verdict alone", `{"range":{"start":{"line":3,"character":4}},"code":"escape","message":""}`,
			[]Fact{{Code: "escape", Message: "escapes to heap", Chain: []Pos{at(f, 3, 4)}}}},
		{"inlined twice, a step inlined once", `{"range":{"start":{"line":3,"character":4}},"code":"leak","message":"m","relatedInformation":[
{"location":{"uri":"file:///src/q/q.go","range":{"start":{"line":5,"character":6}}},"message":"inlineLoc"},
{"location":{"uri":"file://example.com/r/r.go","range":{"start":{"line":7,"character":8}}},"message":"inlineLoc"},
{"location":{"uri":"file:///src/p/a%20b.go","range":{"start":{"line":3,"character":8}}},"message":"escflow: from x (spill)"},
{"location":{"uri":"file:///src/q/q.go","range":{"start":{"line":9,"character":1}}},"message":"inlineLoc"}]}`,
			[]Fact{{Code: "leak", Message: "m", Chain: []Pos{at(f, 3, 4), at("/src/q/q.go", 5, 6), at("example.com/r/r.go", 7, 8)},
				Flow: []FlowStep{{at("/src/q/q.go", 9, 1), "from x (spill)"}}}}},
		{"what is not understood is left out", "not json\n{}\n[1]\n" + `{"range":{"start":{"line":0}},"code":"x"}
{"range":{"start":{"line":1,"character":1}},"code":"new","new":{"a":[1]}}`,
			[]Fact{{Code: "new", Chain: []Pos{at(f, 1, 1)}}}},
		{"cut off", `{"range":{"start":{"line":1,"character":1}},"code":"copy","message":"200 bytes"}` + "\n" + `{"range":{"sta`,
			[]Fact{{Code: "copy", Message: "200 bytes", Chain: []Pos{at(f, 1, 1)}}}},
		{"an endless line", strings.Repeat("x", maxLogLine+100) + "\n" + `{"range":{"start":{"line":1,"character":1}},"code":"nilcheck"}`,
			[]Fact{{Code: "nilcheck", Chain: []Pos{at(f, 1, 1)}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := c.log
			if strings.Contains(log, "[\n") { // one diagnostic per line
				log = strings.ReplaceAll(strings.ReplaceAll(log, "[\n", "["), ",\n{\"location", ",{\"location")
			}
			h, got, err := readLog(strings.NewReader(logHead + log))
			if err != nil || h.File != f || h.GcVersion != "go1.26" {
				t.Fatalf("header %+v, %v", h, err)
			}
			if d := cmp.Diff(c.want, got, cmp.AllowUnexported(Fact{})); d != "" {
				t.Error(d)
			}
		})
	}
	for log, want := range map[string]string{
		"":                            "no header",
		"x\n":                         "not a header",
		`{"file":"f.go"}`:             "not a header",
		`{"version":1,"file":"f.go"}`: "version 1",
	} {
		if _, _, err := readLog(strings.NewReader(log)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", log, err, want)
		}
	}
}

const compilerText = `# example.com/m
./m.go:14:6: can inline box with cost 4 as: func(int) { sink = x }
./m.go:37:6: cannot inline big: unhandled op DEFER
./m.go:44:6: cannot inline main: function too complex: cost 380 exceeds budget 80
./m.go:45:5: inlining call to box
./m.go:33:40: Found IsInBounds
./m.go:14:26: x escapes to heap in box:
./m.go:14:26:   flow: {heap} ← &{storage for x}:
./m.go:14:26:     from x (spill) at ./m.go:14:27
./m.go:14:26:     from sink = x (assign) at ./m.go:14:24
./m.go:14:26: x escapes to heap
./m.go:24:6: b escapes to heap in buf:
./m.go:24:6:   flow: {heap} ← &b:
./m.go:24:6: moved to heap: b
./m.go:23:10: parameter w leaks to {heap} for buf with derefs=0:
./m.go:23:10:   flow: {heap} ← w:
./m.go:23:10: leaking param: w
./m.go:29:10: leaking param content: v
./m.go:19:11: make([]byte, n) does not escape
./m.go:50:9: new(int) escapes to heap
<autogenerated>:1: inlining call to os.(*File).Close
C:\src\m.go:7:8: moved to heap: w
go: some warning
`

func TestReadText(t *testing.T) {
	got := readText([]byte(compilerText), func(s string) string { return strings.TrimPrefix(s, "./") })
	fact := func(code, msg string, line, col int, flow ...FlowStep) Fact {
		return Fact{code, msg, []Pos{{"m.go", line, col}}, flow, true}
	}
	step := func(line, col int, text string) FlowStep { return FlowStep{Pos{"m.go", line, col}, text} }
	want := []Fact{
		fact("canInlineFunction", "cost: 4", 14, 6),
		fact("cannotInlineFunction", "unhandled op DEFER", 37, 6),
		fact("cannotInlineFunction", "function too complex: cost 380 exceeds budget 80", 44, 6),
		fact("isInBounds", "", 33, 40),
		fact("escape", "x escapes to heap", 14, 26, step(14, 26, "flow: {heap} = &{storage for x}"),
			step(14, 27, "from x (spill)"), step(14, 24, "from sink = x (assign)")),
		fact("escape", "moved to heap: b", 24, 6, step(24, 6, "flow: {heap} = &b")),
		fact("leak", "parameter w leaks to {heap} with derefs=0", 23, 10, step(23, 10, "flow: {heap} = w")),
		fact("leak", "leaking param content: v", 29, 10),
		fact("escape", "new(int) escapes to heap", 50, 9),
		{"escape", "moved to heap: w", []Pos{{`C:\src\m.go`, 7, 8}}, nil, true},
	}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(Fact{})); d != "" {
		t.Error(d)
	}
}

// Facts survive the cache, and a damaged file is an error, not a panic.
func TestFactsRoundTrip(t *testing.T) {
	tab := newTable("p")
	facts := readText([]byte(compilerText), func(s string) string { return s })
	for _, f := range facts {
		tab.add(f)
	}
	name := t.TempDir() + "/x/facts.gob.gz"
	if err := writeFacts(name, tab.facts); err != nil {
		t.Fatal(err)
	}
	x := open(t, Config{})
	f := &Facts{index: x, files: map[string][]*factFile{}}
	f.add(tab.facts)
	if got := f.At("./m.go", 14); len(got) != 2 {
		t.Errorf("two facts are at line 14, got %+v", got)
	}
	tab.facts.Records[0].Code = 1 << 20
	var b bytes.Buffer
	if err := writeFacts(name, tab.facts); err != nil {
		t.Fatal(err)
	}
	if b.WriteString(fileText(t, name)); b.Len() == 0 {
		t.Fatal("nothing was written")
	}
	if _, err := decodeFacts(&b); err == nil || !strings.Contains(err.Error(), "out of range") {
		t.Errorf("index out of range: %v", err)
	}
}

func FuzzReadLog(f *testing.F) {
	f.Add([]byte(logHead + `{"range":{"start":{"line":3,"character":4}},"code":"escape","message":"x escapes to heap","relatedInformation":[{"location":{"uri":"file:///a%zz"},"message":"inlineLoc"}]}`))
	f.Add([]byte(logHead))
	f.Add([]byte("{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, facts, _ := readLog(bytes.NewReader(data))
		for _, fact := range facts {
			if fact.Code == "" || len(fact.Chain) == 0 || fact.Chain[0].Line <= 0 {
				t.Fatalf("fact without code or place: %+v", fact)
			}
		}
		storable(t, facts)
	})
}

func FuzzReadText(f *testing.F) {
	f.Add([]byte(compilerText))
	f.Add([]byte("a:1:   flow\nb:1:1: parameter  for  with derefs=:\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		facts := readText(data, func(s string) string { return s })
		for _, fact := range facts {
			if fact.Code == "" || len(fact.Chain) != 1 || fact.Chain[0].Line <= 0 {
				t.Fatalf("fact without code or place: %+v", fact)
			}
		}
		storable(t, facts)
	})
}

// storable checks that facts survive encoding and decoding.
func storable(t *testing.T, facts []Fact) {
	t.Helper()
	tab := newTable("p")
	for _, f := range facts {
		tab.add(f)
	}
	if !tab.facts.valid() {
		t.Fatal("the table is not valid")
	}
	for i, f := range facts {
		got := tab.facts.fact(&tab.facts.Records[i])
		if got.Code != f.Code || got.Message != f.Message || !slices.Equal(got.Chain, f.Chain) || !slices.Equal(got.Flow, f.Flow) {
			t.Fatalf("%+v came back as %+v", f, got)
		}
	}
}
