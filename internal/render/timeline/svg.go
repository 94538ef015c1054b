package timeline

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/hone-go/hone/exectrace/timeline"
	"github.com/hone-go/hone/profile/symbol"
)

// Sizes of the picture, in pixels.
const (
	svgWidth  = 1400.0
	svgNames  = 300.0
	svgRow    = 18.0
	svgHead   = 44.0
	svgMaxRow = 120
)

// colour returns the colour of a state, the same as on the page (page.js).
func colour(state, why string) string {
	switch state {
	case "running":
		return "#3f9b57"
	case "runnable":
		return "#e0a030"
	case "syscall":
		return "#7a6fc0"
	case "waiting":
		switch why {
		case "sync", "sync.(*Cond).Wait":
			return "#c8504c"
		case "network", "sleep":
			return "#c9d3dc"
		}
		return "#9fb3c8"
	}
	return "#dddddd"
}

// SVG draws a static picture. Spans narrower than a fifth of a pixel are left out.
func SVG(w io.Writer, title string, r *timeline.Result) error {
	length := float64(max(1, r.To-r.From))
	x := func(t int64) float64 { return svgNames + float64(t-r.From)/length*(svgWidth-svgNames-10) }
	rows := append(append([]timeline.Row{}, r.Processors...), r.Goroutines...)
	hidden := max(0, len(rows)-svgMaxRow)
	rows = rows[:len(rows)-hidden]
	height := svgHead + svgRow*float64(len(rows)) + 30
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" font-family="sans-serif" font-size="11">`+"\n", svgWidth, height)
	fmt.Fprintf(&b, `<title>%s</title><rect width="100%%" height="100%%" fill="#ffffff"/><text x="8" y="18" font-size="14">%s</text>`+"\n", escape(title), escape(title))
	for _, band := range r.Bands {
		to := band.To
		if to < 0 || to > r.To {
			to = r.To
		}
		if from := max(band.From, r.From); to > from {
			fmt.Fprintf(&b, `<rect x="%.1f" y="26" width="%.2f" height="%.0f" fill="#000" opacity="0.06"><title>%s %s</title></rect>`+"\n", x(from), x(to)-x(from), height-30, escape(band.Name), escape(band.Why))
		}
	}
	for i, row := range rows {
		y := svgHead + svgRow*float64(i)
		name := fmt.Sprintf("%d %s", row.ID, symbol.Short(row.Name))
		if i < len(r.Processors) {
			name = fmt.Sprintf("P %d", row.ID)
		}
		fmt.Fprintf(&b, `<text x="8" y="%.1f">%s</text>`+"\n", y+12, escape(clip(name, 44)))
		for _, s := range row.Spans {
			width := x(s.To) - x(s.From)
			if width < 0.2 {
				continue
			}
			fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%.2f" height="%.0f" fill="%s"><title>%s</title></rect>`+"\n",
				x(s.From), y, width, svgRow-3, colour(s.State, s.Why), escape(describe(r, s)))
		}
	}
	foot := fmt.Sprintf("%.6g ms from %.6g ms", length/1e6, float64(r.From)/1e6)
	if hidden > 0 {
		foot += fmt.Sprintf("; %d goroutines more", hidden)
	}
	for _, n := range notes(r) {
		foot += "; " + n
	}
	fmt.Fprintf(&b, `<text x="8" y="%.1f" fill="#555">%s</text>`+"\n</svg>\n", height-10, escape(foot))
	_, err := io.WriteString(w, b.String())
	return err
}

// describe returns a span in words.
func describe(r *timeline.Result, s timeline.Span) string {
	text := fmt.Sprintf("%s %.4g µs", s.State, float64(s.To-s.From)/1e3)
	if s.Why != "" {
		text += ", " + s.Why
	}
	if s.G != 0 {
		text += fmt.Sprintf(", goroutine %d", s.G)
	}
	if s.Line >= 0 && s.Line < len(r.Lines) {
		text += ", " + r.Lines[s.Line].String()
	}
	if s.Mixed {
		text += ", including shorter ones"
	}
	return text
}

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

func escape(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		return ""
	}
	return b.String()
}
