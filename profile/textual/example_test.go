package textual_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/hone-go/hone/profile/report"
	"github.com/hone-go/hone/profile/textual"
)

func ExampleDecode() {
	text := `main.main;main.handle;encoding/json.Marshal 12
main.main;main.handle 3
`
	fmt.Println(textual.Detect([]byte(text)))
	p, err := textual.Decode(strings.NewReader(text), 0)
	if err != nil {
		log.Fatal(err)
	}
	top, err := report.Top(p, report.TopOptions{Order: report.ByCum})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range top.Rows {
		fmt.Println(r.Flat, r.Cum, r.Name)
	}
	// Output:
	// folded stacks
	// 3 15 main.handle
	// 0 15 main.main
	// 12 12 encoding/json.Marshal
}

func ExampleGoroutines() {
	dump, err := textual.Goroutines(strings.NewReader(`goroutine 7 [chan receive, 5 minutes]:
main.wait(0xc00001)
	/src/wait.go:5 +0x1d
created by main.main in goroutine 1
	/src/main.go:7 +0x55
`), 0)
	if err != nil {
		log.Fatal(err)
	}
	for _, g := range dump {
		fmt.Printf("goroutine %d has been in %s for %d minutes in %s\n", g.ID, g.State, g.WaitMinutes, g.Stack[0].Function)
	}
	// Output:
	// goroutine 7 has been in chan receive for 5 minutes in main.wait
}
