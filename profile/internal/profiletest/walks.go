package profiletest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/hone-go/hone/profile"
)

// Walks makes a gzip'd CPU profile of random walks through 2,000 functions:
// 20,000 stacks of 30 frames, a label each, about 2 MB inflated.
func Walks(b *testing.B, seed uint64) []byte {
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

func Decoded(b *testing.B, data []byte) *profile.Profile {
	b.Helper()
	p, err := profile.Decode(bytes.NewReader(data), 0)
	if err != nil {
		b.Fatal(err)
	}
	return p
}
