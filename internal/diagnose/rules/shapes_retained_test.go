package rules_test

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	retainedsubstring "github.com/hone-go/hone/internal/diagnose/rules/retained-substring"
)

// TestRetainedSubstringShapes: a part of a large buffer is stored far from where the buffer is
// allocated.
func TestRetainedSubstringShapes(t *testing.T) {
	const head = `import (
	"bytes"
	"container/list"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
)

const cell = 4096

type entry struct {
	n    int
	data []byte
}

type store struct {
	mu    sync.Mutex
	cells map[int][]byte
	order *list.List
	names []string
	list  []entry
	ch    chan []byte
	last  string
	pts   []point
}

type point struct{ x, y float64 }

var (
	shared store
	cells  sync.Map
	lines  []string
	word   = regexp.MustCompile("[a-z]+")
)

func (s *store) put(n int, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cells[n] = data
}

func (s *store) push(n int, data []byte) { s.order.PushFront(&entry{n, data}) }

func (s *store) add(e entry) {
	all := append(s.list, e)
	s.list = all
}

func size(b []byte) int { return len(b) }

func cut(b []byte, n int) []byte { return b[n*cell : (n+1)*cell] }

func cutAt(b []byte, at int) []byte { return b[at : at+cell] }

func copyAt(b []byte, at int) []byte { return bytes.Clone(b[at : at+cell]) }

func fields(text string) (name, rest string) {
	for line := range strings.SplitSeq(text, "\n") {
		rest = line
	}
	name, _, _ = strings.Cut(text, "\n")
	return name, ""
}

var _ = io.EOF
var _ = os.Args
`
	shapes := []shape{
		// Through the function that reads, the one that cuts, and a method that stores.
		{"func read_N(n int) []byte { return make([]byte, n) } @ < up_N\n\nfunc F(n int) {\n\tb := read_N(n) //: up_N\n\tshared.put(n, b[n:n+cell])\n}", "b[n:n + cell] (main.go"},
		{"func read_N(n int) ([]byte, error) {\n\tb := make([]byte, n) @ < up_N\n\tif size(b) == 0 {\n\t\treturn nil, os.ErrExist\n\t}\n\treturn b, nil\n}\n\nfunc F(n int) ([]byte, error) {\n\tb, err := read_N(n) //: up_N\n\tif err != nil {\n\t\treturn nil, err\n\t}\n\tat := n * cell\n\tdata := b[at : at+cell]\n\tshared.push(n, data)\n\treturn data, nil\n}", "A part of 4.0 KiB"},
		{"func F(name string, at int) {\n\tb, _ := os.ReadFile(name) @ os.ReadFile\n\tcells.Store(at, cutAt(b, at))\n}", "b[at:at + cell]"},
		{"func F(r io.Reader, at int) {\n\tb, _ := io.ReadAll(r) @ io.ReadAll\n\tshared.add(entry{at, b[at : at+cell]})\n}", "b[at:at + cell]"},
		{"func F(r io.Reader, at int) {\n\tvar b bytes.Buffer\n\tio.Copy(&b, r) @ io.Copy\n\te := entry{n: at}\n\te.data = b.Bytes()[at : at+cell]\n\tshared.add(e)\n}", "at:at + cell"},
		{"func F(r io.Reader) {\n\tvar b strings.Builder\n\tio.Copy(&b, r) @ io.Copy\n\tname, _ := fields(b.String())\n\tshared.names = append(shared.names, name)\n}", "name (main.go"},
		{"func F(n, i, j int) {\n\tb := make([]byte, n) @\n\tshared.ch <- b[i:j]\n}", "b[i:j]"},
		{"func F(b []byte) {\n\ttext := string(b) @\n\tlines = append(lines, word.FindString(text))\n}", "FindString"},
		{"func F(b []byte) {\n\ttext := string(b) @\n\tm := word.FindStringSubmatch(text)\n\tif m != nil {\n\t\tshared.last = m[1]\n\t}\n}", "Submatch"},
		{"func F(b []byte) {\n\tf := strings.Fields(string(b)) @\n\tshared.names = append(shared.names, f[0])\n}", "f[0]"},
		{"func F(n int) {\n\tpts := make([]point, n) @\n\tshared.pts = pts[:10]\n}", "slices.Clone(pts[:10])"},
		{"func F(n, at int) {\n\tb := make([]byte, n) @\n\tfunc() { shared.put(at, b[at:at+cell]) }()\n}", "b[at:at + cell]"},
		{"func F(b []byte) {\n\tlast := \"\"\n\tfor line := range strings.Lines(string(b)) { @\n\t\tif strings.HasPrefix(line, \"#\") {\n\t\t\tlast = line\n\t\t}\n\t}\n\tshared.last = last\n}", "strings.Clone(line)"},
		{"type note_N struct{ from, about string }\n\ntype notes_N struct{ by map[string][]note_N }\n\nfunc (x *notes_N) add(h note_N) {\n\tlist := append(x.by[h.from], h)\n\tif len(list) > 9 {\n\t\tlist = append(list[:0:0], list[5:]...)\n\t}\n\tx.by[h.from] = list\n}\n\nfunc read_N(r io.Reader) (string, error) {\n\tvar b strings.Builder\n\tif _, err := io.Copy(&b, r); err != nil { @ io.Copy < up_N\n\t\treturn \"\", err\n\t}\n\treturn b.String(), nil\n}\n\nfunc parse_N(text string) (from, about, body string, ok bool) {\n\thead, body, ok := strings.Cut(text, \"--\")\n\tfor line := range strings.SplitSeq(head, \",\") {\n\t\tkey, value, _ := strings.Cut(line, \"=\")\n\t\tswitch key {\n\t\tcase \"from\":\n\t\t\tfrom = value\n\t\tcase \"about\":\n\t\t\tabout = value\n\t\t}\n\t}\n\treturn from, about, body, ok\n}\n\nfunc (x *notes_N) F(r io.Reader) int {\n\ttext, err := read_N(r) //: up_N\n\tif err != nil {\n\t\treturn 0\n\t}\n\tfrom, about, body, _ := parse_N(text)\n\tx.add(note_N{from: from, about: about})\n\treturn len(strings.Fields(body))\n}", "Clone(value)"},
		{"type cache_N interface{ Put(n int, b []byte) }\n\nfunc read_N(n int) []byte { return make([]byte, n) } @ < up_N\n\nfunc F(c cache_N, n, at int) {\n\tb := read_N(n) //: up_N\n\tc.Put(n, b[at:at+cell])\n}", "at:at + cell"},
		{"type parser_N struct {\n\ttext string\n\tat int\n\tname string\n}\n\nfunc (p *parser_N) parse() {\n\tend := p.at + len(p.name)\n\tp.name = p.text[p.at:end]\n}\n\nfunc F(b []byte) {\n\tp := &parser_N{text: string(b)} @\n\tp.parse()\n\tshared.names = append(shared.names, p.name)\n}", ""},
		{"type set_N[T any] struct{ all map[int]T }\n\nfunc (s *set_N[T]) keep(n int, v T) { s.all[n] = v }\n\nvar all_N = set_N[[]byte]{map[int][]byte{}}\n\nfunc read_N(n int) []byte { return make([]byte, n) } @ < up_N\n\nfunc F(n, at int) {\n\tb := read_N(n) //: up_N\n\tall_N.keep(n, b[at:at+cell])\n}", "at:at + cell"},
		{"func read_N(b []byte) string { return string(b) } @ < up_N\n\nfunc F(b []byte) {\n\ttext := read_N(b) //: up_N\n\tname, _, ok := strings.Cut(text, \":\")\n\tif ok {\n\t\tshared.cells[len(name)] = nil\n\t\tcells.Store(name, true)\n\t}\n}", "strings.Clone(name)"},
		// The whole is stored too, or all of its parts, or copies, or most of it.
		{"func F(n, at int) {\n\tb := make([]byte, n) @\n\tshared.put(at, b[at:at+cell])\n\tshared.put(n, b)\n}", ""},
		{"func F(n, at int) {\n\tb := make([]byte, n) @\n\tshared.put(at, copyAt(b, at))\n}", ""},
		{"func F(n, at int) {\n\tb := make([]byte, n) @\n\tshared.last = string(b[at : at+cell])\n}", ""},
		{"func F(n int) {\n\tb := make([]byte, n) @\n\tfor i := range n / cell {\n\t\tshared.put(i, b[i*cell:(i+1)*cell])\n\t}\n}", ""},
		{"func F(r io.Reader, n int) {\n\tb := make([]byte, n) @\n\tk, _ := io.ReadFull(r, b)\n\tshared.put(n, b[:k])\n}", ""},
		{"func F(b []byte) {\n\tfor _, w := range strings.Fields(string(b)) { @\n\t\tlines = append(lines, w)\n\t}\n}", ""},
		{"func F(n int) {\n\tb := make([]byte, n) @\n\tvar out [][]byte\n\tfor i := range n / cell {\n\t\tout = append(out, b[i*cell:(i+1)*cell])\n\t}\n\tcells.Store(n, out)\n}", ""},
		{"func F(n int) {\n\tb := make([]byte, n) @\n\tout := map[int][]byte{}\n\tfor i := range n / cell {\n\t\tout[i] = b[i*cell:(i+1)*cell]\n\t}\n\tshared.cells = out\n}", ""},
		{"func F(b []byte) {\n\tvar out []string\n\tfor line := range strings.Lines(string(b)) { @\n\t\tif len(line) > 3 {\n\t\t\tout = append(out, line)\n\t\t}\n\t}\n\tlines = out\n}", ""},
		{"func F(b []byte) {\n\tf := strings.Split(string(b), \",\") @\n\tshared.names = append(shared.names, f...)\n}", ""},
		{"func part_N(n, at int) []byte {\n\tb := make([]byte, n) @ < up_N\n\tc := b\n\tshared.put(at, c)\n\treturn b[at : at+cell]\n}\n\nfunc F(n int) {\n\tshared.last = string(part_N(n, 0)) //: up_N\n}", ""},
		{"func read_N(n int) []byte { return make([]byte, n) } @ < up_N\n\nfunc F(n int) {\n\tb := read_N(n) //: up_N\n\tshared.put(n, b)\n\tshared.push(n, b[n:n+cell])\n}", ""},
		{"func read_N(n int) []byte { return make([]byte, n) } @ < up_N\n\nfunc F(n int) {\n\tb := read_N(n) //: up_N\n\tfor i := range n {\n\t\tshared.push(i, cut(b, i))\n\t}\n}", ""},
		{"type keeper_N interface{ Keep(b []byte) }\n\nfunc F(k keeper_N, n, at int) {\n\tb := make([]byte, n) @\n\tk.Keep(b)\n\tshared.put(at, b[at:at+cell])\n}", ""},
		{"func F(r io.Reader, n int) {\n\tb := make([]byte, n) @\n\te := entry{n: n, data: b}\n\tshared.add(e)\n\tshared.put(n, b[n:n+cell])\n}", ""},
		{"func F(n, at int) int {\n\tb := make([]byte, n) @\n\treturn size(b[at : at+cell])\n}", ""},
		{"func F(b []byte) {\n\tshared.last = strings.TrimSpace(string(b)) @\n}", ""},
	}
	checkShapesIn(t, retainedsubstring.Rule(), head, "", 128<<10, shapes, func(p *rule.Pass) {
		for _, s := range p.Table.Sites {
			s.Live, s.Allocs = s.Allocs, nil
			p.Table.Totals.LiveBytes = 2 * s.Live[0].Value
		}
	})
}

// TestPoppedShapes: a queue that is empty now and then, whose array still refers to what was taken.
func TestPoppedShapes(t *testing.T) {
	const head = `import "container/heap"

type job struct {
	n    int
	body [600]byte
}

type stack struct{ jobs []*job }

func (s *stack) push(j *job) { s.jobs = append(s.jobs, j) }

type byNumber []*job

func (h byNumber) Len() int           { return len(h) }
func (h byNumber) Less(i, j int) bool { return h[i].n < h[j].n }
func (h byNumber) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *byNumber) Push(x any)        { *h = append(*h, x.(*job)) }

func use(j *job) int { return j.n }

func (s *stack) next() int {
	if len(s.jobs) == 0 {
		return -1
	}
	return use(s.pop())
}
`
	for _, c := range []struct {
		pop, f string
		found  bool
	}{
		{"func (s *stack) pop() *job {\n\tn := len(s.jobs) - 1\n\tj := s.jobs[n]\n\ts.jobs = s.jobs[:n]\n\treturn j\n}", "func F(s *stack, n int) { s.push(&job{n: n}) } @", true},
		{"func (s *stack) pop() *job {\n\tj := s.jobs[len(s.jobs)-1]\n\ts.jobs = s.jobs[:len(s.jobs)-1]\n\treturn j\n}", "func F(n int) *job {\n\treturn &job{n: n} @\n}", true},
		{"func (s *stack) pop() *job {\n\tj := s.jobs[0]\n\ts.jobs = s.jobs[1:]\n\treturn j\n}", "func F(n int) *job {\n\treturn &job{n: n} @\n}", true},
		{"func (s *stack) pop() *job {\n\tn := len(s.jobs) - 1\n\tj := s.jobs[n]\n\ts.jobs[n] = nil\n\ts.jobs = s.jobs[:n]\n\treturn j\n}", "func F(n int) *job {\n\treturn &job{n: n} @\n}", false},
		{"var done []*job\n\nfunc (s *stack) pop() *job {\n\tn := len(s.jobs) - 1\n\tj := s.jobs[n]\n\ts.jobs = s.jobs[:n]\n\tdone = append(done, j)\n\treturn j\n}", "func F(n int) *job {\n\treturn &job{n: n} @\n}", false},
		{"func (s *stack) pop() *job { return s.jobs[0] }", "func F(n int) *job {\n\treturn &job{n: n} @\n}", false},
		{"func (s *stack) pop() *job { return s.jobs[0] }\n\nfunc (h *byNumber) Pop() any {\n\told := *h\n\tn := len(old)\n\tj := old[n-1]\n\t*h = old[0 : n-1]\n\treturn j\n}\n\nfunc drain(h *byNumber) {\n\tfor h.Len() > 0 {\n\t\tuse(heap.Pop(h).(*job))\n\t}\n}", "func F(n int) *job {\n\treturn &job{n: n} @\n}", false},
		{"func (s *stack) pop() *job { return nil }\n\ntype line struct{ waiting byNumber }\n\nfunc (h *byNumber) Pop() any {\n\told := *h\n\tn := len(old)\n\tj := old[n-1]\n\t*h = old[0 : n-1]\n\treturn j\n}\n\nfunc drain(l *line) {\n\tif l.waiting.Len() == 0 {\n\t\treturn\n\t}\n\tuse(heap.Pop(&l.waiting).(*job))\n}", "func F(n int) *job {\n\treturn &job{n: n} @\n}", true},
	} {
		h := head
		if strings.Contains(c.pop, "byNumber") && c.found {
			h = strings.Replace(h, "jobs []*job", "jobs byNumber", 1)
		}
		says := ""
		if c.found {
			says = "to nil before the list is made shorter"
		}
		checkShapesIn(t, retainedsubstring.Rule(), h+"\nvar _ = heap.Init\n\n"+c.pop, "", 608, []shape{{c.f, says}}, func(p *rule.Pass) {
			p.Counts = ranTimes(120, func(int) uint64 { return 1000 })
			for _, s := range p.Table.Sites {
				s.Live, s.Allocs = s.Allocs, nil
				p.Table.Totals.LiveBytes = 2 * s.Live[0].Value
			}
		})
	}
}

// TestRetainedInLoops: counts show how many parts of a buffer a loop stores.
func TestRetainedInLoops(t *testing.T) {
	const code = "func F(b []byte) {\n\tfor line := range strings.Lines(string(b)) { @\n\t\tif strings.HasPrefix(line, \"#\") {\n\t\t\tlines = append(lines, line)\n\t\t}\n\t}\n}"
	for made, says := range map[uint64]string{1000: "strings.Clone(line)", 10: ""} {
		checkShapesIn(t, retainedsubstring.Rule(), "import \"strings\"\n\nvar lines []string", "", 128<<10, []shape{{code, says}}, func(p *rule.Pass) {
			s := p.Table.Sites[0]
			s.Live, s.Allocs = s.Allocs, nil
			p.Table.Totals.LiveBytes = 2 * s.Live[0].Value
			p.Counts = ranTimes(30, func(line int) uint64 {
				if line == s.Line {
					return made
				}
				return 1000
			})
		})
	}
}
