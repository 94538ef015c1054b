package diagnose

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

func TestAdviceOnDependencies(t *testing.T) {
	s := &site.Site{Frame: site.Frame{Owner: gocode.Owner{Kind: gocode.Dependency, Module: "example.com/router", Version: "v3.3.4"}}}
	if got := (candidates{}).advice(s); got != "The line belongs to example.com/router v3.3.4: look for a newer version, or propose the change there." {
		t.Error(got)
	}
	known := candidates{"example.com/router v3.3.4": {
		{Module: "example.com/router", Version: "v4.1.2"},
		{Module: "example.com/router/v5", Version: "v5.2.3"},
	}}
	got := known.advice(s)
	for _, want := range []string{"example.com/router v3.3.4", "v4.1.2 and example.com/router/v5 v5.2.3", "not proved"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
}
