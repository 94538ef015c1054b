package inputs_test

import (
	"testing"

	"github.com/hone-go/hone/internal/inputs"
)

// TestChosen: a function gets what the request asks for, or the same whatever that is.
func TestChosen(t *testing.T) {
	c := &inputs.Counts{Requests: 1000, Targets: 40}
	for _, test := range []struct {
		what string
		f    inputs.Function
		want bool
	}{
		{"one part of a page for each request", inputs.Function{Calls: 1000, InRequest: 1000, Different: 40, PerRequest: 1000, Stable: 40, StablePerRequest: 1000}, true},
		{"four parts of each page", inputs.Function{Calls: 4000, InRequest: 4000, Different: 160, PerRequest: 4000, Stable: 160, StablePerRequest: 4000}, true},
		{"a receiver for each part", inputs.Function{Calls: 4000, InRequest: 4000, Different: 1, PerRequest: 4000, Stable: 160, StablePerRequest: 4000}, true},
		{"a new receiver for each call", inputs.Function{Calls: 4000, InRequest: 4000, Different: 3, PerRequest: 4000, Stable: 4000, StablePerRequest: 4000}, false},
		{"the same for all pages", inputs.Function{Calls: 1000, InRequest: 1000, Different: 3, PerRequest: 1000, Stable: 3, StablePerRequest: 1000}, false},
		{"the same four times in a request", inputs.Function{Calls: 4000, InRequest: 4000, Different: 40, PerRequest: 1000, Stable: 40, StablePerRequest: 1000}, false},
		{"one of several kinds of pages", inputs.Function{Calls: 300, InRequest: 300, Targets: 10, Different: 10, PerRequest: 300, Stable: 10, StablePerRequest: 300}, true},
		{"the same for one kind of pages", inputs.Function{Calls: 300, InRequest: 300, Targets: 10, Different: 3, PerRequest: 300, Stable: 3, StablePerRequest: 300}, false},
		{"a single page", inputs.Function{Calls: 300, InRequest: 300, Targets: 1, Different: 40, PerRequest: 300, Stable: 40, StablePerRequest: 300}, false},
		{"outside of requests", inputs.Function{Calls: 1000, Different: 40, Stable: 40}, false},
	} {
		if got := c.Chosen(&test.f); got != test.want {
			t.Errorf("%s: %t", test.what, got)
		}
	}
	if (&inputs.Counts{Requests: 1000, Targets: 1}).Chosen(&inputs.Function{Calls: 1000, InRequest: 1000, Different: 1, PerRequest: 1000}) {
		t.Error("a load of one request")
	}
}
