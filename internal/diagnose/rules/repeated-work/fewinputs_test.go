package repeatedwork

import (
	"testing"

	"github.com/hone-go/hone/internal/inputs"
)

// TestDiffersInRequests: a loop in a request that repeats inputs has fewer of them than calls.
func TestDiffersInRequests(t *testing.T) {
	for _, c := range []struct {
		calls, different int64
		want             bool
	}{
		{31_094, 30_840, true}, // 40 objects of each list are checked once, for people who come again
		{31_094, 780, false},   // one input in each request
		{40, 40, false},        // too few to say
		{0, 0, false},
	} {
		if got := differsInRequests(&inputs.Function{InRequest: c.calls, PerRequest: c.different}); got != c.want {
			t.Errorf("%d calls with %d inputs: %v", c.calls, c.different, got)
		}
	}
}
