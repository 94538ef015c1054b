package measure_test

import (
	"fmt"

	"github.com/hone-go/hone/profile/measure"
)

// Values as pprof prints them.
func Example() {
	fmt.Println(measure.Format(1_200_000_000, "nanoseconds", "auto"), measure.Format(1_200_000_000, "nanoseconds", "ms"))
	fmt.Println(measure.Format(3<<20, "bytes", "auto"), measure.Percent(1, 8))
	// A column is easier to read in one unit, which its smallest value and its total determine.
	unit := measure.Common(2_500_000, 1_200_000_000, "nanoseconds")
	fmt.Println(measure.Format(2_500_000, "nanoseconds", unit), measure.Format(1_200_000_000, "nanoseconds", unit))
	// Output:
	// 1.20s 1200ms
	// 3MB 12.50%
	// 2.50ms 1200ms
}
