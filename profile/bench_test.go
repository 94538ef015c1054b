package profile_test

import (
	"bytes"
	"regexp"
	"testing"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/profiletest"
)

func BenchmarkDecode(b *testing.B) {
	data := profiletest.Walks(b, 1)
	var raw bytes.Buffer
	if err := profiletest.Decoded(b, data).EncodeRaw(&raw); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(raw.Len())) // throughput of inflated bytes
	b.ReportAllocs()
	for b.Loop() {
		profiletest.Decoded(b, data)
	}
}

func BenchmarkEncode(b *testing.B) {
	p := profiletest.Decoded(b, profiletest.Walks(b, 1))
	b.ReportAllocs()
	for b.Loop() {
		if err := p.Encode(&bytes.Buffer{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFilter(b *testing.B) {
	p := profiletest.Decoded(b, profiletest.Walks(b, 1))
	f := profile.Filter{Focus: regexp.MustCompile(`pkg7\.`), Hide: regexp.MustCompile(`pkg1\.`)}
	b.ReportAllocs()
	for b.Loop() {
		p.Filter(f)
	}
}

func BenchmarkMerge(b *testing.B) {
	var ps []*profile.Profile
	for seed := range uint64(5) {
		ps = append(ps, profiletest.Decoded(b, profiletest.Walks(b, seed)))
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := profile.Merge(ps...); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSubtract(b *testing.B) {
	p, base := profiletest.Decoded(b, profiletest.Walks(b, 1)), profiletest.Decoded(b, profiletest.Walks(b, 2))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := profile.Subtract(p, base, profile.Subtraction{}); err != nil {
			b.Fatal(err)
		}
	}
}
