package rules_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	unchangedinput "github.com/hone-go/hone/internal/diagnose/rules/unchanged-input"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/recording"
)

// TestUnchangedInputChosen: a value that the request chooses, once per request, is a hint: what is
// computed from it is a part of the answer.
func TestUnchangedInputChosen(t *testing.T) {
	const head = `import "strings"

var texts = []string{"a b", "c d e"}

func build(text string) map[string]int {
	all := map[string]int{}
	for i, word := range strings.Fields(text) {
		all[word] = i
	}
	return all
}

type place struct{ text string }

var places = []place{{"a b"}, {"c d e"}}

type config struct{ text string }

var settings = &config{"f g"}`
	for _, c := range []struct {
		perRequest uint64
		counted    *inputs.Counts
		says       string
	}{
		{1, nil, "The request decides the input"},
		{1, calledWith(inputs.ByAddress, 1000), "The request decides the input"}, // addresses of new objects say nothing
		{1, calledWith(inputs.ByAddress, 2), "Cache the results by their input, in a map;"},
		{1, calledWith(inputs.ByValue, 2), "Cache the results by their input, in a map;"},
		{1000, nil, "Cache the results by their input, in a map;"},
	} {
		checkShapesIn(t, unchangedinput.Rule(), head, "strings.Fields main.build", 0, []shape{
			{"func F(n int) map[string]int { return build(texts[n]) } @", c.says},
			{"func F() map[string]int { return build(texts[1]) } @", "Build it once"},
			{"func F(p place) map[string]int { return build(p.text) } @", c.says},
			{"func (p *place) at_N() map[string]int { return build(p.text) } @", c.says},
			{"func F(c *config) map[string]int { return build(c.text) } @", "Build it once"},
		}, func(p *rule.Pass) {
			lines := map[int]string{}
			for i := range 400 {
				lines[i+1] = ""
			}
			p.Counts, p.Inputs = ran(lines, c.perRequest), c.counted
			p.Manifest.Load = &recording.Load{Targets: []string{"GET http://127.0.0.1/"}}
		})
	}
}

// calledWith returns the inputs of a function that was called by each of a thousand requests.
func calledWith(how inputs.Taken, different int64) *inputs.Counts {
	return &inputs.Counts{Requests: 1000, Targets: 500, Functions: []inputs.Function{{
		Name: "main.build", Calls: 1000, Hashed: 1000, Different: 2, Stable: different, InRequest: 1000, PerRequest: 1000,
		Params: []inputs.Taken{how},
	}}}
}

// TestUnchangedInputFilled: a field that is set once refers to memory that is filled again, under
// another name.
func TestUnchangedInputFilled(t *testing.T) {
	const head = `import (
	"image"
	"image/draw"
	"io"
)

type shot struct {
	img *image.NRGBA
	buf []byte
	of  [][]int
}

func build(img *image.NRGBA) map[byte]int {
	all := map[byte]int{}
	for i := range img.Pix {
		all[img.Pix[i]] = i
	}
	return all
}

func sum(buf []byte) map[byte]int {
	all := map[byte]int{}
	for i, b := range buf {
		all[b] = i
	}
	return all
}

func grid(of [][]int) map[int]int {
	all := map[int]int{}
	for i, row := range of {
		all[row[0]] = i
	}
	return all
}

func fill(pix []byte, n int) {
	for i := range pix {
		pix[i] = byte(n)
	}
}

func look(pix []byte) int { return len(pix) }

var _ = draw.Draw
var _ io.Reader`
	counted := func(p *rule.Pass) {
		lines := map[int]string{}
		for i := range 400 {
			lines[i+1] = ""
		}
		p.Counts = ran(lines, 1000)
	}
	each := func(below string, shapes []shape) { // what one of them writes, the others would see
		for _, sh := range shapes {
			checkShapesIn(t, unchangedinput.Rule(), head, below, 0, []shape{sh}, counted)
		}
	}
	const says = "builds the same result again on every call, from"
	const image = "func (s *shot) F(n int) map[byte]int {\n\treturn build(s.img) @\n}\n\n"
	const bytes = "func (s *shot) F(n int) map[byte]int {\n\treturn sum(s.buf) @\n}\n\n"
	each("strings.Fields main.build", []shape{
		{image + "func (s *shot) take_N(n int) { look(s.img.Pix) }", says},
		{image + "func (s *shot) take_N(n int) { pix := s.img.Pix; n += int(pix[0]) }", says},
		{image + "func (s *shot) take_N(n int) { pix := make([]byte, len(s.img.Pix)); pix[0] = 1 }", says},
		{image + "func (s *shot) take_N(n int) { s.img.Pix[0] = byte(n) }", ""},
		{image + "func (s *shot) take_N(n int) { pix := s.img.Pix; pix[0] = byte(n) }", ""},
		{image + "func (s *shot) take_N(n int) { img := s.img; pix := img.Pix[4:]; pix[0]++ }", ""},
		{image + "func (s *shot) take_N(n int) { fill(s.img.Pix, n) }", ""},
		{image + "func (s *shot) take_N(from image.Image) { draw.Draw(s.img, s.img.Rect, from, image.Point{}, draw.Src) }", ""},
	})
	each("strings.Fields main.sum", []shape{
		{bytes + "func (s *shot) take_N(r io.Reader) { r.Read(nil) }", says},
		{bytes + "func (s *shot) take_N(r io.Reader) { r.Read(s.buf) }", ""},
		{bytes + "func (s *shot) take_N(from []byte) { copy(s.buf[2:], from) }", ""},
		{bytes + "func (s *shot) take_N(r io.Reader) { b := s.buf; io.ReadFull(r, b[:8]) }", ""},
	})
	each("strings.Fields main.grid", []shape{
		{"func (s *shot) F(n int) map[int]int {\n\treturn grid(s.of) @\n}\n\nfunc (s *shot) take_N(n int) { for _, row := range s.of { row[0] = n } }", ""},
		{"func (s *shot) F(n int) map[int]int {\n\treturn grid(s.of) @\n}\n\nfunc (s *shot) take_N(n int) { for _, row := range s.of { n += row[0] } }", says},
	})
}

// TestUnchangedInputOfObjects: a part of another object that has a lock changes with that object.
func TestUnchangedInputOfObjects(t *testing.T) {
	const head = `import "sync"

type limiter struct {
	mu    sync.Mutex
	rates map[string]int
}

func newLimiter(names ...string) *limiter {
	l := &limiter{rates: map[string]int{}}
	for i, name := range names {
		l.rates[name] = i
	}
	return l
}

type visitor struct{ limit *limiter }

var visitors sync.Map

var byName = map[string]*limiter{}`
	checkShapesIn(t, unchangedinput.Rule(), head, "runtime.mallocgc main.newLimiter", 0, []shape{
		{"func F(name string) { visitors.Store(name, &visitor{newLimiter(\"a\", \"b\")}) } @", ""},
		{"func F(name string) { visitors.LoadOrStore(name, newLimiter(\"a\", \"b\")) } @", ""},
		{"func F(name string) { byName[name] = newLimiter(\"a\", \"b\") } @", ""},
		{"func F(v *visitor) { v.limit = newLimiter(\"a\", \"b\") } @", ""},
		{"func F() int { return len(newLimiter(\"a\", \"b\").rates) } @", "newLimiter builds the same result"},
	}, func(p *rule.Pass) {
		lines := map[int]string{}
		for i := range 400 {
			lines[i+1] = ""
		}
		p.Counts = ran(lines, 1)
		p.Manifest.Load = &recording.Load{Targets: []string{"GET http://127.0.0.1/"}}
	})
}
