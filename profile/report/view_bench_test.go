package report_test

import (
	"regexp"
	"testing"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/profiletest"
	"github.com/hone-go/hone/profile/report"
)

// BenchmarkView measures what options cost that change nothing: nothing.
func BenchmarkView(b *testing.B) {
	p := profiletest.Decoded(b, profiletest.Walks(b, 1))
	tag, err := profile.ParseTagFilter("route=1")
	if err != nil {
		b.Fatal(err)
	}
	re := regexp.MustCompile("Function1[0-9]*$")
	for name, set := range map[string]func(*report.Options){
		"default":    func(*report.Options) {},
		"focus":      func(o *report.Options) { o.Focus = re },
		"show_from":  func(o *report.Options) { o.ShowFrom = re },
		"prune_from": func(o *report.Options) { o.PruneFrom = re },
		"tagfocus":   func(o *report.Options) { o.TagFocus = tag },
		"taghide":    func(o *report.Options) { o.TagHide = re },
		"tagroot":    func(o *report.Options) { o.TagRoot = []string{"route"} },
		"noinlines":  func(o *report.Options) { o.NoInlines = true },
	} {
		b.Run(name, func(b *testing.B) {
			o := report.DefaultOptions()
			set(&o)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := report.NewView(p, o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkTopMarks measures the marks for inlined calls; compare BenchmarkTop.
func BenchmarkTopMarks(b *testing.B) {
	p := profiletest.Decoded(b, profiletest.Walks(b, 1))
	v, err := report.NewView(p, report.DefaultOptions())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := report.Top(v.Profile, v.TopOptions(20)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAgainst measures a diff_base without the report.
func BenchmarkAgainst(b *testing.B) {
	p, base := profiletest.Decoded(b, profiletest.Walks(b, 2)), profiletest.Decoded(b, profiletest.Walks(b, 1))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := profile.Subtract(p, base, profile.Subtraction{Mark: true}); err != nil {
			b.Fatal(err)
		}
	}
}
