package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

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
// kind and how much memory was resident. With another server, it asks both for each view, and fails
// if their answers differ.
func (b *uiBench) randomViews(ctx context.Context, w io.Writer, s server, other *server) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	v, err := newViewer(ctx, s)
	if err != nil {
		return err
	}
	defer v.stop()
	var old *viewer
	if other != nil {
		if old, err = newViewer(ctx, *other); err != nil {
			return err
		}
		defer old.stop()
	}
	r := rand.New(rand.NewPCG(11, b.seed))
	kinds := viewKinds()
	for i := range b.views {
		k := kinds[i%len(kinds)]
		text := expression(r)
		if k.filter == "tagfocus" {
			text = fmt.Sprintf("route=route/%d$", r.IntN(60))
		}
		path := k.page + "&" + k.filter + "=" + url.QueryEscape(text)
		cpu, page, err := v.view(ctx, path)
		if err != nil {
			return err
		}
		v.seen[k] = append(v.seen[k], cpu)
		line := fmt.Sprintf("%s=%s: %.3f s, %.0f MiB", k.name, text, cpu, v.resident[len(v.resident)-1])
		if old != nil {
			cpu, was, err := old.view(ctx, path)
			if err != nil {
				return err
			}
			old.seen[k] = append(old.seen[k], cpu)
			line += fmt.Sprintf("; the other %.3f s", cpu)
			if !bytes.Equal(page, was) {
				return fmt.Errorf("the answers to %s differ", path)
			}
		}
		if b.verbose {
			fmt.Fprintln(os.Stderr, line)
		}
	}
	fmt.Fprintln(w, "view\tCPU s, median\t95 %\tmost\t")
	if err := v.print(w); err != nil || old == nil {
		return err
	}
	fmt.Fprintf(w, "the other, with equal answers:\t\t\t\t\n")
	return old.print(w)
}

// viewer asks a server for views.
type viewer struct {
	pid      int
	address  string
	stop     func()
	seen     map[viewKind][]float64 // CPU seconds
	ahead    float64                // CPU seconds that the server spent before the views, while nobody asked it
	resident []float64              // MiB, after each view
}

// newViewer starts a server, asks it for what a user sees first, and waits until it is idle.
func newViewer(ctx context.Context, s server) (*viewer, error) {
	v := &viewer{seen: map[viewKind][]float64{}}
	var err error
	if v.pid, v.address, v.stop, err = s.start(ctx); err != nil {
		return nil, err
	}
	for _, path := range []string{"/page/flame?src=0", "/page/flame?src=0&inverted=1"} {
		if _, _, err := v.view(ctx, path); err != nil {
			v.stop()
			return nil, err
		}
	}
	v.resident = nil
	if v.ahead, err = idle(ctx, v.pid); err != nil {
		v.stop()
		return nil, err
	}
	return v, nil
}

// idle waits until a server computes nothing, and returns the CPU seconds that it took until then.
func idle(ctx context.Context, pid int) (cpu float64, err error) {
	const most, calm = 0.005, 3 // seconds in each of so many
	first, _, err := soFar(pid)
	if err != nil {
		return 0, err
	}
	for last, n := first, 0; n < calm; {
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(time.Second):
		}
		now, _, err := soFar(pid)
		if err != nil {
			return 0, err
		}
		if n++; now-last > most {
			n = 0
		}
		cpu, last = now-first, now
	}
	return cpu, nil
}

// view returns a page and the CPU seconds that it took.
func (v *viewer) view(ctx context.Context, path string) (cpu float64, page []byte, err error) {
	before, _, err := soFar(v.pid)
	if err != nil {
		return 0, nil, err
	}
	var b bytes.Buffer
	if _, err := getTo(ctx, &b, v.address+path); err != nil {
		return 0, nil, err
	}
	after, _, err := soFar(v.pid)
	if err != nil {
		return 0, nil, err
	}
	now, err := residentMiB(v.pid)
	v.resident = append(v.resident, now)
	return after - before, b.Bytes(), err
}

// print prints a row for each kind of view, and the memory.
func (v *viewer) print(w io.Writer) error {
	_, peak, err := soFar(v.pid)
	if err != nil {
		return err
	}
	for _, k := range viewKinds() {
		if cpu := v.seen[k]; len(cpu) > 0 {
			slices.Sort(cpu)
			fmt.Fprintf(w, "%s\t%.2f\t%.2f\t%.2f\t\n", k.name, stats.Median(cpu), cpu[(len(cpu)*19-1)/20], cpu[len(cpu)-1])
		}
	}
	fmt.Fprintf(w, "ahead of the views, while idle\t%.2f\t\t\t\n", v.ahead)
	early := v.resident[:min(100, len(v.resident))]
	fmt.Fprintf(w, "resident MiB: %.0f after %d views, %.0f after %d; between views at most %.0f, peak %.0f\t\t\t\t\n",
		early[len(early)-1], len(early), v.resident[len(v.resident)-1], len(v.resident), slices.Max(v.resident), peak)
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
