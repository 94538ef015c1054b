package profile_test

import (
	"regexp"
	"testing"

	"github.com/hone-go/hone/profile"
)

// BenchmarkView measures what the options cost: nothing, where they change nothing.
func BenchmarkView(b *testing.B) {
	p := decoded(b, walks(b, 1))
	tag, err := profile.ParseTagFilter("route=1")
	if err != nil {
		b.Fatal(err)
	}
	re := regexp.MustCompile("Function1[0-9]*$")
	for name, set := range map[string]func(*profile.ViewOptions){
		"default":    func(*profile.ViewOptions) {},
		"focus":      func(o *profile.ViewOptions) { o.Focus = re },
		"show_from":  func(o *profile.ViewOptions) { o.ShowFrom = re },
		"prune_from": func(o *profile.ViewOptions) { o.PruneFrom = re },
		"tagfocus":   func(o *profile.ViewOptions) { o.TagFocus = tag },
		"taghide":    func(o *profile.ViewOptions) { o.TagHide = re },
		"tagroot":    func(o *profile.ViewOptions) { o.TagRoot = []string{"route"} },
		"noinlines":  func(o *profile.ViewOptions) { o.NoInlines = true },
	} {
		b.Run(name, func(b *testing.B) {
			o := profile.DefaultViewOptions()
			set(&o)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.View(o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkTopMarks measures the marks for inlined calls beside BenchmarkTop.
func BenchmarkTopMarks(b *testing.B) {
	p := decoded(b, walks(b, 1))
	v, err := p.View(profile.DefaultViewOptions())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := v.Profile.Top(v.TopOptions(20)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAgainst measures a diff_base without the report.
func BenchmarkAgainst(b *testing.B) {
	p, base := decoded(b, walks(b, 2)), decoded(b, walks(b, 1))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Against(base, profile.BaseOptions{Mark: true}); err != nil {
			b.Fatal(err)
		}
	}
}
