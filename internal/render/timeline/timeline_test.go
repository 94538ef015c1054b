package timeline

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/timeline"
	"github.com/hone-go/hone/internal/live"
	"github.com/hone-go/hone/internal/render/browsertest"
)

// sample is a window of 1 ms: goroutine 7 runs, waits for a lock and runs again, woken by goroutine
// 8.
func sample() *timeline.Result {
	return &timeline.Result{
		From: 5_000_000, To: 6_000_000,
		Lines:      []exectrace.Line{{Function: "example.com/shop.(*Cart).Add", File: "/src/shop/cart.go", Line: 41}},
		Processors: []timeline.Row{{ID: 0, Spans: []timeline.Span{{From: 5_000_000, To: 5_400_000, State: "running", Line: 0, G: 7}}}},
		Goroutines: []timeline.Row{
			{ID: 7, Name: "main.main", Spans: []timeline.Span{
				{From: 5_000_000, To: 5_400_000, State: "running", Line: -1},
				{From: 5_400_000, To: 5_900_000, State: "waiting", Why: "sync", Line: 0},
				{From: 5_900_000, To: 6_000_000, State: "running", Line: -1, Mixed: true},
			}},
			{ID: 8, Name: "main.worker<T>"},
		},
		Bands: []timeline.Band{{Name: "GC", From: 4_000_000, To: 5_100_000}, {Name: "GC", From: 1, To: 2}},
		Wakes: []timeline.Wake{{At: 5_900_000, From: 8, To: 7, Line: 0}, {At: 5_900_000, From: 99, To: 1234, Line: -1}},
		Grain: 2000,
	}
}

func TestPageInBrowser(t *testing.T) {
	live.Only(t)
	var b bytes.Buffer
	if err := HTML(&b, "a.trace, <window>", sample()); err != nil {
		t.Fatal(err)
	}
	drive, err := os.ReadFile(filepath.Join("testdata", "browser.js"))
	if err != nil {
		t.Fatal(err)
	}
	page := strings.Replace(b.String(), "</body>", "<script type=\"module\">\n"+string(drive)+"</script>\n</body>", 1)
	got := browsertest.Seen(t, browsertest.Open(t, "page.html", page, ""), `<pre id="seen">`)
	want := map[string]string{
		"title":      "a.trace, <window>",
		"green":      "true",
		"note":       "5 ms to 6 ms · spans shorter than 2 µs are merged with their neighbours",
		"second row": "7 main.main: 3 spans, woken 1 times",
		"zoomed":     "5.25 ms to 5.75 ms · spans shorter than 2 µs are merged with their neighbours",
		"green grew": "true",
		"all":        "5 ms to 6 ms · spans shorter than 2 µs are merged with their neighbours",
		"tip":        "7 main.main | running: 400 µs | from 5 ms",
		"theme":      "dark",
		"help":       "true",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestPageData compares the script's input with the window: spans are cut to it, and wakes of
// missing rows are left out.
func TestPageData(t *testing.T) {
	d := newPageData("x", sample())
	if len(d.Bands) != 1 || d.Bands[0].From != 0 || d.Bands[0].Length != 100_000 {
		t.Errorf("bands %+v, want the one that reaches in, cut", d.Bands)
	}
	if diff := cmp.Diff([][4]int64{{900_000, 2, 1, 0}}, d.Wakes); diff != "" {
		t.Errorf("wakes -want +got:\n%s", diff)
	}
	if got := d.Rows[1].Spans[2]; !cmp.Equal(got, []int64{900_000, 100_000, 0, -1, 1}) {
		t.Errorf("the last span is %v", got)
	}
}

func TestSVGIsWellFormed(t *testing.T) {
	var b bytes.Buffer
	if err := SVG(&b, "a.trace, <window>", sample()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"shop/cart.go:41", "waiting 500 µs, sync", "8 main.worker&lt;T&gt;", "a.trace, &lt;window&gt;"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the picture lacks %q", want)
		}
	}
	dec := xml.NewDecoder(&b)
	for {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
