package render

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/hone-go/hone/internal/screen"
)

// Style describes the output to draw for.
type Style struct {
	Color bool
	Width int // columns to wrap at; 0 = a readable default

	// Ink marks hone's own colours for the screen.Writer that the page is written to, which escapes
	// all others.
	Ink screen.Ink
}

// defaultWidth is used if the output is not a terminal: a line length that is readable in a log and
// in a pull request.
const defaultWidth = 100

func (s Style) width() int {
	if s.Width <= 0 {
		return defaultWidth
	}
	return min(max(s.Width, 60), 120)
}

// ink is the meaning of a text, which determines its colour.
type ink int

const (
	plain  ink = iota
	strong     // what to read first
	faint      // what can be skipped
	good
	bad
	code
)

func (s Style) paint(i ink, text string) string {
	if !s.Color || text == "" || i == plain {
		return text
	}
	return s.Ink.Paint([...]screen.SGR{strong: screen.Bold, faint: screen.Faint, good: screen.Green, bad: screen.Red, code: screen.Cyan}[i], text)
}

// line writes one line: line ends in its parts are escaped, colours are kept.
func line(w io.Writer, format string, args ...any) {
	io.WriteString(w, screen.Cell(fmt.Sprintf(format, args...))+"\n") // w is a buffer, or keeps its error
}

// paintLines paints each line of a text separately: a block would be padded.
func (s Style) paintLines(i ink, text string) string {
	lines := strings.Split(text, "\n")
	for n := range lines {
		lines[n] = s.paint(i, lines[n])
	}
	return strings.Join(lines, "\n")
}

// sentence turns a note into a sentence.
func sentence(note string) string {
	r, n := utf8.DecodeRuneInString(note)
	return string(unicode.ToUpper(r)) + note[n:] + "."
}

// wrap breaks text at spaces to width columns, but not between a number and its per cent sign;
// lines after the first start with indent.
func wrap(text, indent string, width int) string {
	var out strings.Builder
	column := 0
	for i, word := range words(text) {
		n := ansi.StringWidth(word)
		switch {
		case i == 0:
		case len(indent)+column+1+n > width:
			out.WriteString("\n" + indent)
			column = 0
		default:
			out.WriteByte(' ')
			column++
		}
		out.WriteString(word)
		column += n
	}
	return out.String()
}

// wrapCell breaks the text of a table's last cell, which starts at column, into lines of the page's
// width.
func wrapCell(text string, column int, s Style) []string {
	if text == "" {
		return nil
	}
	lines := strings.Split(wrap(text, strings.Repeat(" ", column), s.width()), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSpace(l)
	}
	return lines
}

// words splits text at spaces and keeps "2.3 %" together.
func words(text string) []string {
	var out []string
	for _, w := range strings.Fields(text) {
		if strings.HasPrefix(w, "%") && len(out) > 0 {
			out[len(out)-1] += " " + w
			continue
		}
		out = append(out, w)
	}
	return out
}

// padRight and padLeft fill text with spaces to width columns.
func padRight(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-ansi.StringWidth(text)))
}

func padLeft(text string, width int) string {
	return strings.Repeat(" ", max(0, width-ansi.StringWidth(text))) + text
}

// table aligns cells in columns; columns listed in right are right-aligned. A line end in a cell is
// escaped.
func table(rows [][]string, gap string, right ...int) []string {
	isRight := map[int]bool{}
	for _, c := range right {
		isRight[c] = true
	}
	var widths []int
	for _, r := range rows {
		for i := range r {
			r[i] = screen.Cell(r[i])
			cell := r[i]
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	lines := make([]string, len(rows))
	for n, r := range rows {
		cells := make([]string, len(r))
		for i, cell := range r {
			if isRight[i] {
				cells[i] = padLeft(cell, widths[i])
			} else {
				cells[i] = padRight(cell, widths[i])
			}
		}
		lines[n] = strings.TrimRight(strings.Join(cells, gap), " ")
	}
	return lines
}
