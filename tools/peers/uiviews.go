package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/hone-go/hone/stats"
)

// viewKind is a kind of random views: a page, and the filter that gets a random expression.
type viewKind struct{ name, page, filter string }

func viewKinds() []viewKind {
	const flame, top = "/page/flame?src=0", "/api/top?src=0&top=200"
	return []viewKind{
		{"flame graph, focus", flame, "focus"},
		{"flame graph, ignore", flame, "ignore"},
		{"flame graph, hide", flame, "hide"},
		{"flame graph, show", flame, "show"},
		{"flame graph, show from", flame, "show_from"},
		{"flame graph, label", flame, "tagfocus"},
		{"flame graph by line, focus", flame + "&granularity=lines", "focus"},
		{"flame graph by file, hide", flame + "&granularity=files", "hide"},
		{"inverted, focus", flame + "&inverted=1", "focus"},
		{"inverted, ignore", flame + "&inverted=1", "ignore"},
		{"inverted, hide", flame + "&inverted=1", "hide"},
		{"table, focus", top, "focus"},
	}
}

// expression returns an expression for frames of the generated profiles: of a few functions, of a
// few dozen, of some packages, or of a large part of all functions.
func expression(r *rand.Rand) string {
	switch r.IntN(8) {
	case 0, 1:
		return fmt.Sprintf(`Method%d[0-9]$`, 10+r.IntN(1900))
	case 2, 3:
		return fmt.Sprintf(`(Function|Method)%d[0-9]{2}$`, 1+r.IntN(199))
	case 4:
		return fmt.Sprintf(`pkg%d\.`, r.IntN(800))
	case 5:
		return fmt.Sprintf(`/part%d/`, r.IntN(40))
	case 6:
		return fmt.Sprintf(`Type[0-9]*%d\)`, r.IntN(10))
	}
	return fmt.Sprintf(`Function[0-9]*[%d%d]$`, r.IntN(10), r.IntN(10))
}

// randomViews asks a server for many views with random filters, and prints the CPU time of each
// kind and how much memory was resident.
func (b *uiBench) randomViews(ctx context.Context, w io.Writer, s server) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pid, address, stop, err := s.start(ctx)
	if err != nil {
		return err
	}
	defer stop()
	r := rand.New(rand.NewPCG(11, 13))
	kinds := viewKinds()
	seen := make([][]float64, len(kinds))
	var resident []float64
	view := func(path string) (float64, error) {
		before, _, err := soFar(pid)
		if err != nil {
			return 0, err
		}
		if _, err := get(ctx, address+path); err != nil {
			return 0, err
		}
		after, _, err := soFar(pid)
		return after - before, err
	}
	for _, path := range []string{"/page/flame?src=0", "/page/flame?src=0&inverted=1"} { // what a user sees first
		if _, err := view(path); err != nil {
			return err
		}
	}
	for i := range b.views {
		kind := i % len(kinds)
		k := kinds[kind]
		text := expression(r)
		if k.filter == "tagfocus" {
			text = fmt.Sprintf("route=route/%d$", r.IntN(60))
		}
		cpu, err := view(k.page + "&" + k.filter + "=" + url.QueryEscape(text))
		if err != nil {
			return err
		}
		seen[kind] = append(seen[kind], cpu)
		now, err := residentMiB(pid)
		if err != nil {
			return err
		}
		if b.verbose {
			_, peak, err := soFar(pid)
			if err != nil {
				return err
			}
			fmt.Fprintf(os.Stderr, "%s=%s: %.3f s, %.0f MiB, peak %.0f\n", k.name, text, cpu, now, peak)
		}
		resident = append(resident, now)
	}
	_, peak, err := soFar(pid)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "view\tCPU s, median\t95 %\tmost\t")
	for i, k := range kinds {
		if cpu := seen[i]; len(cpu) > 0 {
			slices.Sort(cpu)
			fmt.Fprintf(w, "%s\t%.2f\t%.2f\t%.2f\t\n", k.name, stats.Median(cpu), cpu[(len(cpu)*19-1)/20], cpu[len(cpu)-1])
		}
	}
	early := resident[:min(100, len(resident))]
	fmt.Fprintf(w, "resident MiB: %.0f after %d views, %.0f after %d; between views at most %.0f, peak %.0f\t\t\t\t\n",
		early[len(early)-1], len(early), resident[len(resident)-1], len(resident), slices.Max(resident), peak)
	return nil
}

// residentMiB returns the resident memory of a process.
func residentMiB(pid int) (float64, error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "VmRSS:"); ok {
			kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kb / 1024, err
		}
	}
	return 0, fmt.Errorf("process %d has no VmRSS", pid)
}
