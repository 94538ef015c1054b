package report_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/profiletest"
	"github.com/hone-go/hone/profile/report"
)

// Lay out a flame graph and draw it as text: boxes come parents first, with their position.
func ExampleFlame() {
	p, err := profile.Decode(profiletest.ExampleFile(), 0)
	if err != nil {
		log.Fatal(err)
	}
	f, err := report.Flame(p, report.FlameOptions{MaxBoxes: 1000})
	if err != nil {
		log.Fatal(err)
	}
	const columns = 40
	for _, b := range f.Boxes[1:] { // without the root
		at, width := int(columns*b.X/f.Total), int(columns*b.Width/f.Total)
		fmt.Printf("|%s%s%s| %s\n", strings.Repeat(" ", at), strings.Repeat("#", width), strings.Repeat(" ", columns-at-width), f.Functions[b.Function].Name)
	}
	// Output:
	// |########################################| main.main
	// |########################################| main.leftpad
	// |################################        | strings.Repeat
}
