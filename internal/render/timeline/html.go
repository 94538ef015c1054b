package timeline

import (
	"embed"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/hone-go/hone/exectrace/timeline"
	"github.com/hone-go/hone/profile/symbol"
)

//go:embed page
var files embed.FS

// HTML writes the page.
func HTML(w io.Writer, title string, r *timeline.Result) error {
	data, err := json.Marshal(newPageData(title, r)) // escapes <, > and &
	if err != nil {
		return fmt.Errorf("timeline: %w", err)
	}
	text := func(name string) string {
		b, err := files.ReadFile("page/" + name)
		if err != nil {
			panic(err) // cannot happen: the file is embedded
		}
		return string(b)
	}
	_, err = strings.NewReplacer(
		"{{title}}", html.EscapeString(title),
		"{{style}}", text("page.css"),
		"{{data}}", string(data),
		"{{script}}", text("page.js"),
	).WriteString(w, text("page.html"))
	return err
}

// pageData is the input of the script; page/page.js declares it as a type. Spans are lists of
// numbers, because there may be ten thousand: start and length in nanoseconds (from the window's
// start), index in kinds, index in lines or -1, 1 if shorter spans were merged into it, and for
// processors the goroutine.
type pageData struct {
	Title  string     `json:"title"`
	From   int64      `json:"from"`
	Length int64      `json:"length"`
	Kinds  []kind     `json:"kinds"`
	Lines  []string   `json:"lines"`
	Rows   []pageRow  `json:"rows"`
	Bands  []pageBand `json:"bands"`
	// Wakes are time, row of the waker (-1 if it is not shown, or not a goroutine), row of the
	// woken goroutine, line.
	Wakes [][4]int64 `json:"wakes"`
	Notes []string   `json:"notes"`
}

// kind is a state with its reason.
type kind struct {
	State string `json:"state"`
	Why   string `json:"why"`
}

type pageRow struct {
	Name  string    `json:"name"`
	Group string    `json:"group"` // processors, goroutines
	Spans [][]int64 `json:"spans"`
}

type pageBand struct {
	Name   string `json:"name"`
	Why    string `json:"why"`
	From   int64  `json:"from"`
	Length int64  `json:"length"`
}

func newPageData(title string, r *timeline.Result) pageData {
	d := pageData{Title: title, From: r.From, Length: max(1, r.To-r.From), Bands: []pageBand{}, Wakes: [][4]int64{}, Notes: notes(r)}
	for _, l := range r.Lines {
		d.Lines = append(d.Lines, l.String()+"  "+symbol.Short(l.Function))
	}
	kinds := map[kind]int64{}
	number := func(k kind) int64 {
		n, ok := kinds[k]
		if !ok {
			n = int64(len(d.Kinds))
			kinds[k] = n
			d.Kinds = append(d.Kinds, k)
		}
		return n
	}
	add := func(group, name string, spans []timeline.Span) {
		row := pageRow{Name: name, Group: group, Spans: [][]int64{}}
		for _, s := range spans {
			mixed := int64(0)
			if s.Mixed {
				mixed = 1
			}
			cells := []int64{s.From - r.From, s.To - s.From, number(kind{s.State, s.Why}), int64(s.Line), mixed}
			if s.G != 0 {
				cells = append(cells, int64(s.G))
			}
			row.Spans = append(row.Spans, cells)
		}
		d.Rows = append(d.Rows, row)
	}
	for _, p := range r.Processors {
		add("processors", fmt.Sprintf("P %d", p.ID), p.Spans)
	}
	rows := map[uint64]int64{}
	for _, g := range r.Goroutines {
		rows[g.ID] = int64(len(d.Rows))
		add("goroutines", fmt.Sprintf("%d %s", g.ID, symbol.Short(g.Name)), g.Spans)
	}
	for _, b := range r.Bands {
		from, to := max(b.From, r.From), b.To
		if to < 0 || to > r.To {
			to = r.To
		}
		if to > from {
			d.Bands = append(d.Bands, pageBand{b.Name, b.Why, from - r.From, to - from})
		}
	}
	for _, k := range r.Wakes {
		to, ok := rows[k.To]
		if !ok {
			continue
		}
		from, ok := rows[k.From]
		if !ok || k.From == 0 {
			from = -1
		}
		d.Wakes = append(d.Wakes, [4]int64{k.At - r.From, from, to, int64(k.Line)})
	}
	return d
}

func notes(r *timeline.Result) []string {
	out := []string{}
	if r.Grain > 0 {
		out = append(out, fmt.Sprintf("spans shorter than %.3g µs are merged with their neighbours", float64(r.Grain)/1e3))
	}
	if r.Hidden > 0 {
		out = append(out, "not all goroutines fit: choose a shorter window, or one goroutine")
	}
	if r.Unshown > 0 {
		out = append(out, fmt.Sprintf("%d wake-ups are not drawn", r.Unshown))
	}
	return out
}
