package textual_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/textual"
)

func fold(p *profile.Profile) string {
	var b strings.Builder
	var buf []int32
	for row, n := range p.Values(0) {
		buf = p.Stack(row)
		for i := len(buf) - 1; i >= 0; i-- {
			b.WriteString(p.Functions[p.Locations[buf[i]].Lines[0].Func].Name)
			if i > 0 {
				b.WriteByte(';')
			}
		}
		fmt.Fprintf(&b, " %d\n", n)
	}
	return b.String()
}

func TestFoldedRoundTrip(t *testing.T) {
	name := rapid.StringMatching(`[a-zA-Z_.*()<>:,/é-]{1,8}( [a-z0-9]{1,4})?`)
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		b.WriteString("main.main;main.f 1\n")
		for _, stack := range rapid.SliceOf(rapid.SliceOfN(name, 1, 9)).Draw(t, "stacks") {
			fmt.Fprintf(&b, "%s %d\n", strings.Join(stack, ";"), rapid.Int64Range(0, 1<<62).Draw(t, "count"))
		}
		p, err := textual.Decode(strings.NewReader(b.String()), 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := fold(p); got != b.String() {
			t.Fatalf("got\n%s\nwant\n%s", got, b.String())
		}
	})
}

func BenchmarkFolded(b *testing.B) {
	var text strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&text, "main.main;net/http.(*conn).serve;main.handle%d;encoding/json.Marshal;runtime.mallocgc %d\n", i%500, i)
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := textual.Decode(strings.NewReader(text.String()), 0); err != nil {
			b.Fatal(err)
		}
	}
}
