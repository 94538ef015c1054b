package profile_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"testing"

	"github.com/hone-go/hone/profile"
)

// walks makes a gzip'd CPU profile of random walks through 2,000 functions:
// 20,000 stacks of 30 frames, a label each, about 2 MB inflated.
func walks(b *testing.B, seed uint64) []byte {
	b.Helper()
	r := rand.New(rand.NewPCG(seed, 3))
	build := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"}, profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	var stack []profile.FrameSpec
	for range 20_000 {
		stack = stack[:0]
		for at := 0; len(stack) < 30; at = (at*2 + r.IntN(7) + 1) % 2000 {
			stack = append(stack, profile.FrameSpec{
				Function: fmt.Sprintf("example.com/pkg%d.Function%d", at/20, at), File: fmt.Sprintf("pkg%d/file.go", at/20),
				Line: int64(at%50 + r.IntN(3)), Inlined: at%9 == 0 && len(stack) < 29,
			})
		}
		build.AddLabeled(stack, []profile.Label{{Key: "route", Str: fmt.Sprint(r.IntN(40))}}, 1, 10_000_000)
	}
	p, err := build.Profile()
	if err != nil {
		b.Fatal(err)
	}
	var out bytes.Buffer
	if err := p.Encode(&out); err != nil {
		b.Fatal(err)
	}
	return out.Bytes()
}

func decoded(b *testing.B, data []byte) *profile.Profile {
	b.Helper()
	p, err := profile.Decode(bytes.NewReader(data), 0)
	if err != nil {
		b.Fatal(err)
	}
	return p
}

func BenchmarkDecode(b *testing.B) {
	data := walks(b, 1)
	var raw bytes.Buffer
	if err := decoded(b, data).EncodeRaw(&raw); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(raw.Len())) // throughput of inflated bytes
	b.ReportAllocs()
	for b.Loop() {
		decoded(b, data)
	}
}

func BenchmarkEncode(b *testing.B) {
	p := decoded(b, walks(b, 1))
	b.ReportAllocs()
	for b.Loop() {
		if err := p.Encode(&bytes.Buffer{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTop(b *testing.B) {
	p := decoded(b, walks(b, 1))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Top(profile.TopOptions{SampleIndex: 1, MinShare: 0.005}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTopDiff(b *testing.B) {
	p, base := decoded(b, walks(b, 1)), decoded(b, walks(b, 2))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := profile.TopDiff(p, base, profile.TopOptions{SampleIndex: 1, MinShare: 0.005}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFilter(b *testing.B) {
	p := decoded(b, walks(b, 1))
	f := profile.Filter{Focus: regexp.MustCompile(`pkg7\.`), Hide: regexp.MustCompile(`pkg1\.`)}
	b.ReportAllocs()
	for b.Loop() {
		p.Filter(f)
	}
}

func BenchmarkMerge(b *testing.B) {
	var ps []*profile.Profile
	for seed := range uint64(5) {
		ps = append(ps, decoded(b, walks(b, seed)))
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := profile.Merge(ps...); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSubtract(b *testing.B) {
	p, base := decoded(b, walks(b, 1)), decoded(b, walks(b, 2))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := profile.Subtract(p, base); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGraph(b *testing.B) {
	p := decoded(b, walks(b, 1))
	for name, o := range map[string]profile.GraphOptions{
		"tree": {NodeFraction: 0.005, EdgeFraction: 0.001, NodeCount: 80},
		"dot":  {NodeFraction: 0.005, EdgeFraction: 0.001, NodeCount: 80, Visual: true},
		"peek": {EdgesOf: regexp.MustCompile(`pkg7\.`)},
		"all":  {Addresses: true},
	} {
		b.Run(name, func(b *testing.B) {
			o.SampleIndex = 1
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Graph(o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
