// Package codec writes records as lines of fields and reads them again. Its benchmark is one of
// the programs of this module.
package codec

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"strings"
)

// Record is a measurement with the labels of what was measured.
type Record struct {
	Name   string
	Value  float64
	Labels []string // without tabs and newlines
}

// Encode writes records, a line each.
func Encode(w io.Writer, records []Record) error {
	b := bufio.NewWriterSize(w, 64<<10)
	var number []byte
	for _, r := range records {
		putText(b, r.Name)
		number = strconv.AppendFloat(append(number[:0], '\t'), r.Value, 'g', -1, 64)
		b.Write(number)
		for _, l := range r.Labels {
			b.WriteByte('\t')
			putText(b, l)
		}
		b.WriteByte('\n')
	}
	return b.Flush()
}

// Decode reads what Encode wrote.
func Decode(text []byte) ([]Record, error) {
	records := make([]Record, 0, bytes.Count(text, []byte("\n")))
	for line := range strings.Lines(string(text)) {
		cells := split(strings.TrimSuffix(line, "\n"))
		if len(cells) < 2 {
			return nil, io.ErrUnexpectedEOF
		}
		value, err := strconv.ParseFloat(cells[1], 64)
		if err != nil {
			return nil, err
		}
		records = append(records, Record{cells[0], value, cells[2:]})
	}
	return records, nil
}
