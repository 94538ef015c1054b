package stats_test

import (
	"fmt"

	"github.com/hone-go/hone/stats"
)

// Five of 500 profile samples of 10 ms each fell on a line.
func Example() {
	seconds := stats.Poisson(5).Scale(0.010)
	fmt.Printf("%.0f ms, between %.0f and %.0f\n", 1e3*seconds.Value, 1e3*seconds.Low, 1e3*seconds.High)
	share := stats.Share(5, 500)
	fmt.Printf("%.1f %%, between %.1f and %.1f\n", 1e2*share.Value, 1e2*share.Low, 1e2*share.High)
	// Output:
	// 50 ms, between 16 and 117
	// 1.0 %, between 0.4 and 2.3
}

func ExampleMedianRatio() {
	old := []float64{102, 99, 105, 101, 98, 103}
	new := []float64{81, 84, 79, 83, 80, 95}
	ratio, p := stats.MedianRatio(old, new)
	fmt.Printf("%.2f (%.2f to %.2f), p = %.3f\n", ratio.Value, ratio.Low, ratio.High, p)
	// Output: 0.81 (0.78 to 0.90), p = 0.002
}
