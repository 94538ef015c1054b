package rules_test

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	answerencodedagain "github.com/hone-go/hone/internal/diagnose/rules/answer-encoded-again"
	decodedperhit "github.com/hone-go/hone/internal/diagnose/rules/decoded-per-hit"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/load"
)

// ranAfter returns what completes a recording in which the code after a head ran often, and the
// load got the same answers again.
func ranAfter(head string) func(*rule.Pass) {
	last := strings.Count(head, "\n") + 4
	return func(p *rule.Pass) {
		p.Counts = ranTimes(2000, func(line int) uint64 {
			if line < last {
				return 1
			}
			return 1000
		})
		p.Table.Totals.TotalSeconds = 2
		p.Manifest.Phases = []recording.Phase{
			{Name: recording.PhaseCPU, Requests: 1},
			{Name: recording.PhaseCounts, Requests: 1},
			{Name: recording.PhaseInputs, Requests: 1000, Bodies: &load.Bodies{Answers: 1000, Compared: 1000, Same: 990}},
		}
	}
}

// TestAnswerEncodedAgainShapes: where the value comes from that an answer has, and whether that
// changes.
func TestAnswerEncodedAgainShapes(t *testing.T) {
	const head = `import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

type item struct {
	ID   string
	Tags []string
}

type view struct {
	ID    string
	Count int
}

type store struct {
	mu    sync.Mutex
	items map[string]*item
	list  []item
	now   atomic.Pointer[item]
	seen  []item
}

type lister interface{ Everything() []item }

func (s *store) set(id string, it *item) { s.items[id] = it }

func (s *store) fill(all []item) { s.list = all }

func (s *store) one(id string) (*item, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	it, ok := s.items[id]
	if !ok {
		return nil, http.ErrNoLocation
	}
	return it, nil
}

func (s *store) Everything() []item { return slices.Clone(s.list) }

func (s *store) views() []view {
	out := make([]view, 0, len(s.list))
	for _, it := range s.list {
		out = append(out, view{it.ID, len(it.Tags)})
	}
	return out
}

func (s *store) tagged(tag string) []item {
	var out []item
	for _, it := range s.list {
		if slices.Contains(it.Tags, tag) {
			out = append(out, it)
		}
	}
	return out
}

func sorted(m map[string]*item) []string { return slices.Sorted(maps.Keys(m)) }

func fetch(id string) *item { return &item{ID: id, Tags: []string{time.Now().String()}} }
`
	const at = "@ < net/http.(*conn).serve"
	checkShapesIn(t, answerencodedagain.Rule(), head, "encoding/json.(*Encoder).Encode", 0, []shape{
		{"func F(s *store, w http.ResponseWriter, r *http.Request) {\n\tit, err := s.one(r.FormValue(\"id\"))\n\tif err == nil {\n\t\tjson.NewEncoder(w).Encode(it) " + at + "\n\t}\n}", "comes from store.items"},
		{"func (s *store) F(w http.ResponseWriter, r *http.Request) {\n\tjson.NewEncoder(w).Encode(s.list) " + at + "\n}", "comes from store.list"},
		{"func (s *store) F(w http.ResponseWriter, r *http.Request) {\n\tjson.NewEncoder(w).Encode(s.now.Load()) " + at + "\n}", "comes from store.now"},
		{"func F(s *store, w http.ResponseWriter) {\n\tjson.NewEncoder(w).Encode(s.views()) " + at + "\n}", "built from store.list"},
		{"func F(s lister, w http.ResponseWriter) {\n\tall := s.Everything()\n\tjson.NewEncoder(w).Encode(map[string]any{\"items\": all, \"total\": len(all)}) " + at + "\n}", "built from store.list"},
		{"func F(s *store) http.HandlerFunc {\n\treturn func(w http.ResponseWriter, r *http.Request) {\n\t\tjson.NewEncoder(w).Encode(s.views()) " + at + "\n\t}\n}", "built from store.list"},
		{"func (s *store) F(w http.ResponseWriter) {\n\tjson.NewEncoder(w).Encode(sorted(s.items)) " + at + "\n}", "built from store.items"},
		{"func answer_N(w http.ResponseWriter, v any) {\n\tjson.NewEncoder(w).Encode(v) @ < c_N < net/http.(*conn).serve\n}\n\nfunc (s *store) F(w http.ResponseWriter) {\n\tanswer_N(w, s.views()) //: c_N\n}", "which answer7 calls, encodes s.views()"},
		{"func F(s *store, w http.ResponseWriter, r *http.Request) {\n\tjson.NewEncoder(w).Encode(s.tagged(r.FormValue(\"tag\"))) " + at + "\n}", "built from store.list"}, // a hint
		{"func F(w http.ResponseWriter, r *http.Request) {\n\tjson.NewEncoder(w).Encode(fetch(r.FormValue(\"id\"))) " + at + "\n}", ""},
		{"func F(w http.ResponseWriter, r *http.Request) {\n\tvar it item\n\tjson.NewDecoder(r.Body).Decode(&it)\n\tjson.NewEncoder(w).Encode(it) " + at + "\n}", ""},
		{"func (s *store) F(w http.ResponseWriter, r *http.Request) {\n\tjson.NewEncoder(w).Encode(map[string]any{\"items\": s.list, \"at\": time.Now()}) " + at + "\n}", ""},
		{"func (s *store) F(w http.ResponseWriter, r *http.Request) {\n\ts.seen = append(s.seen, item{ID: r.FormValue(\"id\")})\n\tjson.NewEncoder(w).Encode(s.seen) " + at + "\n}", ""},
		{"func F(w http.ResponseWriter, r *http.Request) {\n\ts := &scratch_N{}\n\ts.answer(w)\n}\n\ntype scratch_N struct{ all []item }\n\nfunc (s *scratch_N) answer(w http.ResponseWriter) {\n\ts.all = append(s.all, item{ID: \"x\"})\n\tjson.NewEncoder(w).Encode(s.all) " + at + "\n}", ""},
	}, ranAfter(head))
}

// TestDecodedPerHitShapes: bytes that are kept, and bytes that arrive or change.
func TestDecodedPerHitShapes(t *testing.T) {
	const head = `import (
	"encoding/json"
	"io"
	"os"
	"sync"
)

type item struct{ ID string }

type cache struct {
	entries map[string][]byte
	shared  sync.Map
	limits  []byte
	last    []byte
}

var defaults []byte

func (c *cache) set(id string, data []byte) { c.entries[id] = data }

func (c *cache) raw(id string) ([]byte, bool) {
	data, ok := c.entries[id]
	return data, ok
}
`
	checkShapesIn(t, decodedperhit.Rule(), head, "encoding/json.Unmarshal", 0, []shape{
		{"func (c *cache) F(id string) (it item, err error) {\n\terr = json.Unmarshal(c.entries[id], &it) @\n\treturn it, err\n}", "cache.entries keeps"},
		{"func F(c *cache, id string) (it item, err error) {\n\tdata, ok := c.raw(id)\n\tif ok {\n\t\terr = json.Unmarshal(data, &it) @\n\t}\n\treturn it, err\n}", "cache.entries keeps"},
		{"func (c *cache) F(id string) (it item, err error) {\n\tv, ok := c.shared.Load(id)\n\tif !ok {\n\t\treturn it, os.ErrNotExist\n\t}\n\terr = json.Unmarshal(v.([]byte), &it) @\n\treturn it, err\n}", "cache.shared keeps"},
		{"func F() (it item, err error) {\n\terr = json.Unmarshal(defaults, &it) @\n\treturn it, err\n}", "defaults keeps"},
		{"func decode_N(data []byte, v any) error {\n\treturn json.Unmarshal(data, v) @ < c_N\n}\n\nfunc (c *cache) F() (it item, err error) {\n\terr = decode_N(c.limits, &it) //: c_N\n\treturn it, err\n}", "cache.limits keeps"},
		{"func F(r io.Reader) (it item, err error) {\n\tdata, err := io.ReadAll(r)\n\tif err != nil {\n\t\treturn it, err\n\t}\n\terr = json.Unmarshal(data, &it) @\n\treturn it, err\n}", ""},
		{"func F(name string) (it item, err error) {\n\tdata, err := os.ReadFile(name)\n\tif err != nil {\n\t\treturn it, err\n\t}\n\terr = json.Unmarshal(data, &it) @\n\treturn it, err\n}", ""},
		{"func (c *cache) F(data []byte) (it item, err error) {\n\tc.last = data\n\terr = json.Unmarshal(c.last, &it) @\n\treturn it, err\n}", ""},
	}, ranAfter(head))
}
