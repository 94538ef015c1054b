package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/hone-go/hone/profile"
)

// TestUIMemoryIsFlat asks for 500 different views of a profile. After the first 100 of them, memory
// in use may grow only by the answers that are kept: filtered profiles, layouts and sources are
// not.
func TestUIMemoryIsFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector multiplies what it measures")
	}
	file := profileOfStacks(t, 20_000) // some MB with its layout, so that one that is kept shows
	h, _ := uiOf(t, file)
	answered := 0
	ask := func(i int) {
		filter := []string{"focus", "ignore", "hide", "show", "show_from"}[i%5]
		address := "/api/top?src=0&top=20"
		if i%2 == 0 {
			address = "/page/flame?src=0"
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, fmt.Sprintf("http://127.0.0.1%s&%s=%s", address, filter, url.QueryEscape(fmt.Sprintf("f%d$", i))), nil))
		if w.Code != http.StatusOK {
			t.Fatalf("%s %s: %d %s", address, filter, w.Code, w.Body)
		}
		answered += w.Body.Len()
	}
	inUse := func() int {
		runtime.GC()
		runtime.GC() // what cleanups hold is freed by the second
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	for i := range 100 {
		ask(i)
	}
	before, kept := inUse(), answered
	for i := 100; i < 500; i++ {
		ask(i)
	}
	after, kept := inUse(), (answered-kept)*9/8 // the allocator rounds sizes up
	t.Logf("%.1f MiB in use after 100 views, %.1f MiB after 500, whose answers are %.1f MB", float64(before)/(1<<20), float64(after)/(1<<20), float64(answered)/1e6)
	if after > before+kept+1<<20 {
		t.Errorf("%d bytes in use after 100 views, %d after 500; answers that are kept explain %d", before, after, kept)
	}
	runtime.KeepAlive(h)
}

// profileOfStacks writes a profile of so many stacks, of functions main.f0 and so on.
func profileOfStacks(t *testing.T, stacks int) (file string) {
	t.Helper()
	b := profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	for stack := range stacks {
		var frames []profile.FrameSpec
		for depth := range 12 {
			frames = append(frames, profile.FrameSpec{Function: fmt.Sprintf("main.f%d", (stack>>depth)%97*(depth+1)), File: "/src/main.go", Line: int64(depth + 1)})
		}
		b.Add(frames, int64(1+stack%7))
	}
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "cpu.pprof")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Encode(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return file
}
