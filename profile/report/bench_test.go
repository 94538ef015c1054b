package report_test

import (
	"regexp"
	"testing"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/profiletest"
	"github.com/hone-go/hone/profile/report"
)

func BenchmarkTop(b *testing.B) {
	p := profiletest.Decoded(b, profiletest.Walks(b, 1))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := report.Top(p, report.TopOptions{SampleIndex: 1, MinShare: 0.005}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDiffBase is top with -diff_base.
func BenchmarkDiffBase(b *testing.B) {
	p, base := profiletest.Decoded(b, profiletest.Walks(b, 1)), profiletest.Decoded(b, profiletest.Walks(b, 2))
	b.ReportAllocs()
	for b.Loop() {
		diff, err := profile.Subtract(p, base, profile.Subtraction{Mark: true})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := report.Top(diff, report.TopOptions{SampleIndex: 1, MinShare: 0.005}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGraph(b *testing.B) {
	p := profiletest.Decoded(b, profiletest.Walks(b, 1))
	for name, o := range map[string]report.GraphOptions{
		"tree": {NodeFraction: 0.005, EdgeFraction: 0.001, NodeCount: 80},
		"dot":  {NodeFraction: 0.005, EdgeFraction: 0.001, NodeCount: 80, Visual: true},
		"peek": {EdgesOf: regexp.MustCompile(`pkg7\.`)},
		"all":  {Addresses: true},
	} {
		b.Run(name, func(b *testing.B) {
			o.SampleIndex = 1
			b.ReportAllocs()
			for b.Loop() {
				if _, err := report.Graph(p, o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
