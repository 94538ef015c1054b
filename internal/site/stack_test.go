package site

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/profile"
)

// testBuild is the build info of the program whose stacks the tests write down.
const testBuild = `go	go1.26.8
path	example.com/app/cmd/server
mod	example.com/app	(devel)
dep	github.com/go-chi/chi	v3.3.4+incompatible	h1:KPkDfJUTmnPqKQFiwEsVRkMNYWtyqJZGEpsqDXXaYGY=
`

// testIndex knows testBuild.
func testIndex(tb testing.TB) *gocode.Index {
	tb.Helper()
	x, err := gocode.Open(context.Background(), gocode.Config{BuildInfo: testBuild})
	if err != nil {
		tb.Fatal(err)
	}
	return x
}

// frames parses a stack as the tests write it: frames leaf first, separated by " < ". A frame is
// "function", "function:line" or "function file:line", and ends in " inlined" if it was inlined
// into the next. Without a file it is where its package's files would be.
func frames(text string) []profile.FrameSpec {
	var stack []profile.FrameSpec
	if text == "" {
		return nil
	}
	for _, part := range strings.Split(text, " < ") {
		part, inlined := strings.CutSuffix(strings.TrimSpace(part), " inlined")
		name, file, hasFile := strings.Cut(part, " ")
		line := int64(1)
		if at := &name; true {
			if hasFile {
				at = &file
			}
			if colon := strings.LastIndexByte(*at, ':'); colon >= 0 {
				if n, err := strconv.ParseInt((*at)[colon+1:], 10, 64); err == nil {
					line, *at = n, (*at)[:colon]
				}
			}
		}
		if !hasFile {
			file = fileOf(stripTypeArguments(name))
		}
		stack = append(stack, profile.FrameSpec{Function: name, File: file, Line: line, Inlined: inlined})
	}
	return stack
}

// fileOf invents the file of a function, named as with -trimpath.
func fileOf(name string) string {
	slash := strings.LastIndexByte(name, '/') + 1
	pkg := name[:slash+strings.IndexByte(name[slash:], '.')]
	switch {
	case pkg == "main":
		return "example.com/app/cmd/server/main.go"
	case strings.HasPrefix(pkg, "github.com/go-chi/chi"):
		return strings.Replace(pkg, "chi", "chi@v3.3.4+incompatible", 1) + "/chi.go"
	}
	return pkg + "/file.go"
}

// sample is a line of a test's profile.
type sample struct {
	stack  string
	values []int64
}

var sampleTypes = [kinds][]profile.ValueType{
	cpu:    {{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
	allocs: {{Type: "alloc_objects", Unit: "count"}, {Type: "alloc_space", Unit: "bytes"}},
	heap:   {{Type: "inuse_objects", Unit: "count"}, {Type: "inuse_space", Unit: "bytes"}},
	block:  {{Type: "contentions", Unit: "count"}, {Type: "delay", Unit: "nanoseconds"}},
	mutex:  {{Type: "contentions", Unit: "count"}, {Type: "delay", Unit: "nanoseconds"}},
}

func build(tb testing.TB, k kind, samples ...sample) *profile.Profile {
	tb.Helper()
	b := profile.NewBuilder(sampleTypes[k]...)
	for _, s := range samples {
		b.Add(frames(s.stack), s.values...)
	}
	p, err := b.Profile()
	if err != nil {
		tb.Fatal(err)
	}
	switch k {
	case cpu:
		p.PeriodType, p.Period = profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, 10_000_000
	case allocs, heap:
		p.PeriodType, p.Period = profile.ValueType{Type: "space", Unit: "bytes"}, 512<<10
	}
	return p
}

// ticks is a sample of n profile ticks of 10 ms.
func ticks(n int64, stack string) sample { return sample{stack, []int64{n, n * 10_000_000}} }

// objects is a sample of n objects of some size.
func objects(n, size int64, stack string) sample { return sample{stack, []int64{n, n * size}} }

func mustJoin(tb testing.TB, in Input) *Table {
	tb.Helper()
	if in.Code == nil {
		in.Code = testIndex(tb)
	}
	t, err := Join(context.Background(), in)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}
