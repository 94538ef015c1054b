package render

import (
	"fmt"
	"io"
	"strconv"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requests"
)

// TraceCritical draws the critical path of a request, or of the whole run if q is nil.
func TraceCritical(w io.Writer, q *requests.Request, path *requests.Path, p TracePage, s Style) {
	if q != nil {
		line(w, "%s of %s, %s at %s, on goroutine %d", s.paint(strong, fmt.Sprintf("Request %d", q.ID)), q.Title(),
			requests.Duration(q.Latency), requests.Duration(q.Begin), q.Goroutine)
	} else {
		fmt.Fprintf(w, "%s, %s\n", s.paint(strong, "The whole run"), requests.Duration(path.Length))
	}
	fmt.Fprintln(w)
	rows := [][]string{{"time", "share", "times", "what", "at", "goroutine"}}
	n := p.rows(len(path.Steps), 15)
	for _, st := range path.Steps[:n] {
		rows = append(rows, []string{requests.Duration(st.Time), percent(st.Share), strconv.Itoa(st.Count), spotWords(&st.Spot), spotPlace(&st.Spot), st.Function})
	}
	columns(w, s, rows, 0, 1, 2)
	if segments := p.rows(len(path.Segments), 25); segments > 0 {
		fmt.Fprintln(w)
		fmt.Fprintln(w, s.paint(strong, "In chronological order"))
		rows = [][]string{{"from", "for", "goroutine", "what", "at"}}
		for _, g := range path.Segments[:segments] {
			rows = append(rows, []string{requests.Duration(g.Begin - path.Begin), requests.Duration(g.Time), strconv.FormatUint(g.Goroutine, 10), spotWords(&g.Spot), spotPlace(&g.Spot)})
		}
		columns(w, s, rows, 0, 1, 2)
		if rest := len(path.Segments) - segments + path.LeftOut; rest > 0 {
			fmt.Fprintln(w, s.paint(faint, plural(rest, "segment")+" more; -top -1 shows all."))
		}
	}
	p.foot(w, s, n, len(path.Steps), "steps")
}

func spotWords(s *requests.Spot) string {
	switch {
	case s.Lost:
		return "unknown: too long ago"
	case s.Object != "":
		return s.Part.String() + ", " + s.Object
	}
	return s.Part.String()
}

func spotPlace(s *requests.Spot) string {
	at := place(s.Line)
	if s.Request != 0 {
		at += fmt.Sprintf("  (ended by request %d)", s.Request)
	}
	if s.Waker != (exectrace.Line{}) && s.Part != requests.Running {
		at += "  ← " + s.Waker.String()
	}
	return at
}
