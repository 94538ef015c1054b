package rules_test

import (
	"testing"

	cloneforpart "github.com/hone-go/hone/internal/diagnose/rules/clone-for-part"
	constantwork "github.com/hone-go/hone/internal/diagnose/rules/constant-work"
	jsontoany "github.com/hone-go/hone/internal/diagnose/rules/json-to-any"
)

// TestJSONToAnyShapes: values of any shape that helpers decode and read.
func TestJSONToAnyShapes(t *testing.T) {
	const head = `import "encoding/json"

type event struct {
	Kind string
	Data map[string]any
}

func text(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

func all(m map[string]any) int { return len(m) + count(m) }

func count(m map[string]any) (n int) {
	for range m {
		n++
	}
	return n
}

func keep(m map[string]any) { kept = m }

var kept map[string]any`
	const stack = "encoding/json.(*decodeState).objectInterface encoding/json.(*decodeState).unmarshal encoding/json.Unmarshal"
	checkShapes(t, jsontoany.Rule(), head, stack, 0, []shape{
		{"func F(b []byte) string {\n\tvar m map[string]any\n\tjson.Unmarshal(b, &m) @\n\treturn text(m, \"id\") + text(m, \"name\")\n}", "the keys \"id\" and \"name\""},
		{"func F(b []byte, key string) string {\n\tvar m map[string]any\n\tjson.Unmarshal(b, &m) @\n\treturn text(m, \"id\") + text(m, key)\n}", ""},
		{"func F(b []byte) int {\n\tvar m map[string]any\n\tjson.Unmarshal(b, &m) @\n\treturn all(m)\n}", ""},
		{"func F(b []byte) string {\n\tvar m map[string]any\n\tjson.Unmarshal(b, &m) @\n\tkeep(m)\n\treturn text(m, \"id\")\n}", ""},
		{"func into(b []byte, v any) error { return json.Unmarshal(b, v) } @ < one\n\nfunc F(b []byte) string {\n\tvar m map[string]any\n\tinto(b, &m) //: one\n\ts, _ := m[\"id\"].(string)\n\treturn s\n}", "callers of into only read the key \"id\""},
		{"func fill(b []byte, v any) error { return json.Unmarshal(b, v) } @ < two\n\nfunc F(b []byte) map[string]any {\n\tvar m map[string]any\n\tfill(b, &m) //: two\n\treturn m\n}", ""},
		{"func parse(b []byte) (map[string]any, error) {\n\tvar m map[string]any\n\terr := json.Unmarshal(b, &m) @ < three\n\treturn m, err\n}\n\nfunc F(b []byte) bool {\n\tm, err := parse(b) //: three\n\treturn err == nil && m[\"id\"] == nil\n}", "callers of parse only read"},
		{"func load[T any](b []byte) (v T, err error) {\n\terr = json.Unmarshal(b, &v) @ < four\n\treturn v, err\n}\n\nfunc F(b []byte) any {\n\tm, _ := load[map[string]any](b) //: four\n\treturn m[\"id\"]\n}", "callers of load only read"},
		{"func F(b []byte) any {\n\tvar e event\n\tjson.Unmarshal(b, &e) @\n\treturn e.Data[\"id\"]\n}", "a part of the document"},
		{"func F(b []byte) event {\n\tvar e event\n\tjson.Unmarshal(b, &e) @\n\tprintln(e.Data[\"id\"])\n\treturn e\n}", ""},
	})
}

// TestCloneForPartShapes: copies of elements, of which a caller uses one.
func TestCloneForPartShapes(t *testing.T) {
	const head = `import (
	"maps"
	"slices"
)

type store struct {
	m map[string]int
	l []string
}

var _, _ = maps.Clone[map[string]int], slices.Clone[[]int]`
	checkShapes(t, cloneforpart.Rule(), head, "runtime.mallocgc maps.Clone[go.shape.map[string]int]", 0, []shape{
		{"func F(s *store, k string) bool {\n\tm := maps.Clone(s.m) @\n\t_, ok := m[k]\n\treturn ok\n}", "maps.Clone copies all elements of s.m"},
		{"func F(s *store, keys []string) (n int) {\n\tm := maps.Clone(s.m) @\n\tfor _, k := range keys {\n\t\tn += m[k]\n\t}\n\treturn n\n}", ""},
		{"func F(s *store, k string) map[string]int {\n\tm := maps.Clone(s.m) @\n\tm[k] = 1\n\treturn m\n}", ""},
		{"func (s *store) all() map[string]int { return maps.Clone(s.m) } @ < one\n\nfunc F(s *store, k string) int {\n\treturn s.all()[k] //: one\n}", "all returns a copy of all elements"},
	})
	checkShapes(t, cloneforpart.Rule(), head, "runtime.mapassign_faststr", 0, []shape{
		{"func (s *store) each() map[string]int {\n\tto := map[string]int{}\n\tfor k, v := range s.m {\n\t\tto[k] = v @ < two\n\t}\n\treturn to\n}\n\nfunc F(s *store, k string) int {\n\treturn s.each()[k] //: two\n}", "each returns a copy of all elements"},
		{"func (s *store) even() map[string]int {\n\tto := map[string]int{}\n\tfor k, v := range s.m {\n\t\tif v%2 == 0 {\n\t\t\tto[k] = v @ < three\n\t\t}\n\t}\n\treturn to\n}\n\nfunc F(s *store, k string) int {\n\treturn s.even()[k] //: three\n}", ""},
		{"var gate = make(chan int, 1)\n\nfunc (s *store) gated() map[string]int {\n\t<-gate\n\tto := map[string]int{}\n\tfor k, v := range s.m {\n\t\tto[k] = v @ < gated\n\t}\n\treturn to\n}\n\nfunc F(s *store, k string) int {\n\treturn s.gated()[k] //: gated\n}", "gated returns a copy of all elements"},
		{"func copied(m map[string]int) map[string]int {\n\tto := map[string]int{}\n\tfor k, v := range m {\n\t\tto[k] = v @ < four\n\t}\n\treturn to\n}\n\nfunc F(k string) int {\n\treturn copied(map[string]int{k: 3})[k] //: four\n}", ""},
	})
}

// TestConstantWorkShapes: settings that have few values.
func TestConstantWorkShapes(t *testing.T) {
	const head = `import "net"

var nets = []string{"10.0.0.0/8", "172.16.0.0/12"}

type guard struct {
	allowed string
	Denied  string
	flagged string
}

func newGuard() *guard {
	g := &guard{allowed: "10.0.0.0/8", Denied: "172.16.0.0/12", flagged: "10.0.0.0/8"}
	set(&g.flagged)
	return g
}

func set(*string) {}`
	checkShapes(t, constantwork.Rule(), head, "net.ParseCIDR", 0, []shape{
		{"func F() { net.ParseCIDR(\"10.0.0.0/8\") } @", "depends only on constants"},
		{"func F() {\n\tfor _, s := range nets {\n\t\tnet.ParseCIDR(s) @\n\t}\n}", "it gets only \"10.0.0.0/8\" and \"172.16.0.0/12\""},
		{"func F(all []string) {\n\tfor _, s := range all {\n\t\tnet.ParseCIDR(s) @\n\t}\n}", ""},
		{"func (g *guard) F() { net.ParseCIDR(g.allowed) } @", "it gets only \"10.0.0.0/8\""},
		{"func (g *guard) F() { net.ParseCIDR(g.Denied) } @", ""},
		{"func (g *guard) F() { net.ParseCIDR(g.flagged) } @", ""},
	})
}
