package analysis_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/hone-go/hone/exectrace/analysis"
	"github.com/hone-go/hone/exectrace/requests"
)

// What stands out in a trace, in words.
func Example() {
	file, err := os.Open("testdata/remarks/convoy-guilty.trace.gz")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	set, damage, err := analysis.Read(context.Background(), file, requests.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if damage != nil {
		fmt.Println("analysed up to the damage:", damage)
	}
	for _, m := range set.Summary().Remarks {
		fmt.Println(m.Topic+", in function", m.Line.Function+"; more in view", m.View) // m.Text is a sentence
	}
	// Output:
	// convoy, in function github.com/hone-go/hone/exectrace/analysis_test.remarked.func6.1; more in view blocking
}
