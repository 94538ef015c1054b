package cli

import (
	"encoding/json"
	"flag"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/live"
	"github.com/hone-go/hone/internal/render/browsertest"
)

var (
	pictures   = flag.String("pictures", "", "take pictures of every view of hone ui into this `FOLDER`: light and dark, narrow, wide and 4k")
	picturesOf = flag.String("pictures_of", "", "with -pictures, `FILES` to show, with commas between them")
)

// TestUIPicturesInBrowser takes a picture of the flame graph, which is a page in a frame, and
// checks that something was drawn. With -pictures it takes all pictures:
//
//	go test ./internal/cli -run UIPictures -pictures /tmp/ui -pictures_of before.hone,after.hone
func TestUIPicturesInBrowser(t *testing.T) {
	live.Only(t)
	c := newCorpus(t)
	sources := []string{c.recording, c.profile, c.trace}
	if *picturesOf != "" {
		sources = strings.Split(*picturesOf, ",")
		for i := range sources {
			if strings.HasPrefix(sources[i], "http://") {
				continue // a service
			}
			var err error
			if sources[i], err = filepath.Abs(sources[i]); err != nil {
				t.Fatal(err)
			}
		}
	}
	h, _ := uiOf(t, sources...)
	server := httptest.NewServer(h)
	defer server.Close()
	if *pictures == "" {
		file := filepath.Join(t.TempDir(), "flame.png")
		browsertest.Picture(t, server.URL+"/?src=1&view=flame", file, 1000, 700, false)
		if n := coloursOf(t, file, image.Rect(20, 250, 980, 600)); n < 5 {
			t.Errorf("%d colours where the flame graph should be", n)
		}
		return
	}
	if err := os.MkdirAll(*pictures, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, view := range viewsOf(t, server.URL) {
		name := strings.NewReplacer("&base=1", "-of-two", "view=", "", "src=0&", "", "&", "-", "=", "-").Replace(view)
		for _, size := range [][2]int{{1000, 800}, {1600, 1000}, {3840, 2160}} {
			for _, dark := range []bool{false, true} {
				theme := map[bool]string{false: "light", true: "dark"}[dark]
				file := filepath.Join(*pictures, fmt.Sprintf("%s-%d-%s.png", name, size[0], theme))
				browsertest.Picture(t, server.URL+"/?"+view, file, size[0], size[1], dark)
			}
		}
	}
}

// viewsOf returns the addresses of all views of the first source, which is a recording, with its
// slowest request, and those of the views of histories and services among the other sources.
func viewsOf(t *testing.T, at string) (views []string) {
	t.Helper()
	for _, view := range []string{"findings", "trace", "flame", "graph", "top", "source", "peek", "disasm", "load", "requests", "recording", "compare&base=1", "diff&base=1", "flame&base=1"} {
		views = append(views, "src=0&view="+view)
	}
	var requests struct {
		Slowest []struct{ ID int64 }
	}
	fetchJSON(t, at+"/api/trace-requests?src=0", &requests)
	if len(requests.Slowest) > 0 {
		id := fmt.Sprint(requests.Slowest[0].ID)
		views = append(views, "src=0&view=request&request="+id, "src=0&view=timeline&request="+id)
	}
	var sources []struct{ Kind string }
	fetchJSON(t, at+"/api/sources", &sources)
	for i, s := range sources {
		switch s.Kind {
		case "history":
			views = append(views, fmt.Sprintf("src=%d&view=history", i), fmt.Sprintf("src=%d&view=history&track=0", i))
		case "service":
			views = append(views, fmt.Sprintf("src=%d&view=live", i))
		}
	}
	return views
}

func fetchJSON(t *testing.T, url string, into any) {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if err := json.NewDecoder(r.Body).Decode(into); err != nil {
		t.Fatalf("%s: %v", url, err)
	}
}

// coloursOf counts the colours in a part of a picture.
func coloursOf(t *testing.T, file string, part image.Rectangle) int {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	picture, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[[3]uint32]bool{}
	part = part.Intersect(picture.Bounds())
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for x := part.Min.X; x < part.Max.X; x++ {
			r, g, b, _ := picture.At(x, y).RGBA()
			seen[[3]uint32{r, g, b}] = true
		}
	}
	return len(seen)
}
