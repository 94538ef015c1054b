package rules_test

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	keptvaluesformatted "github.com/hone-go/hone/internal/diagnose/rules/kept-values-formatted"
)

// TestKeptValuesFormattedShapes: values that an object keeps and formats for each line.
func TestKeptValuesFormattedShapes(t *testing.T) {
	const head = `import (
	"bytes"
	"fmt"
	"strings"
)

type item struct{ name string; value any }

type label struct{ name string; n int }

type part interface{ text() string }

type log struct {
	pairs  []any
	items  []item
	labels []label
	refs   []*label
	parts  []part
	data   any
	out    []byte
	pages  []struct{ pairs []any }
}

func (l *log) add(pairs ...any) { l.pairs = append(l.pairs, pairs...) }

func (l *log) set(i int) { l.labels[i].n++ }

var common []any

var _ = fmt.Sprint
var _ bytes.Buffer
var _ strings.Builder`
	const render = "\n\nfunc render_N(all []any) string {\n\treturn fmt.Sprint(len(all)) @ < c_N\n}"
	once := strings.Count(head, "\n") + 3
	complete := func(sets uint64) func(*rule.Pass) {
		return func(p *rule.Pass) {
			p.Counts = ranTimes(3000, func(line int) uint64 {
				if line <= once {
					return sets
				}
				return 100_000
			})
		}
	}
	checkShapesIn(t, keptvaluesformatted.Rule(), head, "fmt.Sprint", 100, numbered([]shape{
		{"func (l *log) line_N(kv []any) string {\n\tvar all []any\n\tall = append(all, l.pairs...)\n\tall = append(all, kv...)\n\treturn render_N(all) //: c_N\n}" + render, "formats the values of l.pairs again each time that line0 calls"},
		{"func (l *log) line_N() string {\n\treturn render_N(l.pairs) //: c_N\n}" + render, "where they are set (add)"},
		{"func line_N() string {\n\treturn render_N(common) //: c_N\n}" + render, "common did not change"},
		{"func (l *log) line_N(b *bytes.Buffer) {\n\tfor _, x := range l.items {\n\t\twrite_N(b, x.name, x.value) //: c_N\n\t}\n}\n\nfunc write_N(b *bytes.Buffer, k string, v any) {\n\tfmt.Fprint(b, k, v) @ < c_N\n}", "write3 formats the values of l.items"},
		{"func (l *log) line_N(b *bytes.Buffer) {\n\tfor _, x := range l.items {\n\t\twrite_N(b, x) //: c_N\n\t}\n}\n\nfunc write_N(b *bytes.Buffer, x item) {\n\tfmt.Fprint(b, x.name, x.value) @ < c_N\n}", "write4 formats the values of l.items"},
		{"func (l *log) line_N(b []byte) []byte {\n\tfor i := 0; i < len(l.pairs); i++ {\n\t\tb = write_N(b, l.pairs[i]) //: c_N\n\t}\n\treturn b\n}\n\nfunc write_N(b []byte, x any) []byte {\n\treturn fmt.Append(b, x) @ < c_N\n}", "write5"},
		// Something else decides the text, or the elements may change.
		{"func (l *log) line_N(s string) string {\n\treturn render_N(s, l.pairs) //: c_N\n}\n\nfunc render_N(s string, all []any) string {\n\treturn fmt.Sprintf(s, all...) @ < c_N\n}", ""},
		{"func (l *log) line_N(kv []any) string {\n\treturn render_N(kv) //: c_N\n}" + render, ""},
		{"func (l *log) page_N(i int) string {\n\treturn render_N(l.pages[i].pairs) //: c_N\n}" + render, ""},
		{"func (l *log) page_N(i int, b *bytes.Buffer) {\n\tfor _, x := range l.pages[i].pairs {\n\t\twrite_N(b, x) //: c_N\n\t}\n}\n\nfunc write_N(b *bytes.Buffer, x any) {\n\tfmt.Fprint(b, x) @ < c_N\n}", ""},
		{"func (l *log) line_N(b *bytes.Buffer) {\n\tfor _, x := range l.refs {\n\t\twrite_N(b, x) //: c_N\n\t}\n}\n\nfunc write_N(b *bytes.Buffer, x *label) {\n\tfmt.Fprint(b, x.name) @ < c_N\n}", ""},
		{"func (l *log) line_N(b *bytes.Buffer) {\n\tfor _, x := range l.parts {\n\t\twrite_N(b, x) //: c_N\n\t}\n}\n\nfunc write_N(b *bytes.Buffer, x part) {\n\tfmt.Fprint(b, x.text()) @ < c_N\n}", ""},
		{"func (l *log) line_N() int {\n\treturn count_N(l.pairs) //: c_N\n}\n\nfunc count_N(all []any) int {\n\treturn len(fmt.Sprint(len(all))) @ < c_N\n}", ""},
		{"func (l *log) line_N(b *bytes.Buffer, s string) {\n\tfor _, x := range l.items {\n\t\tif x.name == s {\n\t\t\twrite_N(b, x) //: c_N\n\t\t}\n\t}\n}\n\nfunc write_N(b *bytes.Buffer, x item) {\n\tfmt.Fprint(b, x.name, x.value) @ < c_N\n}", ""},
		{"func line_N(l *log) string {\n\treturn render_N(l.pairs) //: c_N\n}" + render, ""},
	}), complete(10))
	// The list changes about as often.
	checkShapesIn(t, keptvaluesformatted.Rule(), head, "fmt.Sprint", 100, numbered([]shape{
		{"func (l *log) line_N() string {\n\treturn render_N(l.pairs) //: c_N\n}" + render, ""},
	}), complete(50_000))
}
