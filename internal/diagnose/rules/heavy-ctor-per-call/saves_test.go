package heavyctorpercall

import "testing"

// TestSaves: clearing the tables of a compressor takes CPU, but makes no garbage.
func TestSaves(t *testing.T) {
	for _, c := range []struct {
		name    string
		garbage float64
		want    float64
	}{
		{"compress/gzip.NewWriter", 0, 0.87},
		{"compress/gzip.NewWriter", 1, 0.96},
		{"bufio.NewReader", 0, 0.96},
		{"bufio.NewReader", 1, 0.96},
	} {
		if got := saves(c.name, c.garbage); got.Expect != c.want || !got.Valid() {
			t.Errorf("%s with %.0f of garbage: %+v, want %v", c.name, c.garbage, got, c.want)
		}
	}
}
