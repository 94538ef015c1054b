package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/screen"
)

// progress shows on stderr what hone is doing: on a terminal in a line that is redrawn, otherwise
// in one line for each finished phase.
type progress struct {
	mu    sync.Mutex
	w     io.Writer // nil: quiet
	live  bool
	drawn bool // there is a line that the next one overwrites
	width int
}

func newProgress(env Env, quiet bool) *progress {
	_, stderr := env.raw() // raw, to move the cursor; event escapes the text
	p := &progress{w: stderr, live: env.StderrTTY, width: 78}
	if quiet {
		p.w = nil
	}
	return p
}

func (p *progress) event(e capture.Event) {
	if p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	text := screen.Line(e.Text)
	line := fmt.Sprintf("%-10s %s", e.Phase, text)
	if p.live {
		if e.Of > 0 && !e.End {
			line = fmt.Sprintf("%-10s %s %s", e.Phase, bar(e.At, e.Of), text)
		}
		if r := []rune(line); len(r) > p.width {
			line = string(r[:p.width])
		}
		fmt.Fprintf(p.w, "\r\x1b[K%s", line)
		p.drawn = true
		if e.End {
			fmt.Fprintln(p.w)
			p.drawn = false
		}
		return
	}
	if e.End || e.Of == 0 && e.At == 0 {
		fmt.Fprintln(p.w, strings.TrimRight(line, " "))
	}
}

// programOutput prints the program's output above the progress line, marked and escaped.
type programOutput struct {
	p *progress
	w io.Writer
}

func (o programOutput) Write(b []byte) (int, error) {
	o.p.clear()
	o.p.mu.Lock()
	defer o.p.mu.Unlock()
	for line := range strings.Lines(string(b)) {
		if _, err := fmt.Fprintf(o.w, "| %s\n", screen.Line(strings.TrimRight(line, "\r\n"))); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// clear removes an unfinished line, before the page is printed.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.drawn = false
	}
}

func bar(at, of time.Duration) string {
	const cells = 20
	n := min(int(cells*at/of), cells)
	return "[" + strings.Repeat("#", n) + strings.Repeat(".", cells-n) + "]"
}
