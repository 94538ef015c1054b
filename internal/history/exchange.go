package history

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ExchangeSchema is the version of the lines that Export writes.
const ExchangeSchema = "hone/history/v1"

// exchanged is a run as a line of JSON.
type exchanged struct {
	Schema  string   `json:"schema"`
	Run     Run      `json:"run"`
	Samples []Sample `json:"samples"`
	Files   []File   `json:"files,omitempty"`
}

// Export writes all runs, one line of JSON per run.
func (s *Store) Export(ctx context.Context, w io.Writer) (runs int, err error) {
	all, err := s.Runs(ctx, 0)
	if err != nil {
		return 0, err
	}
	enc := json.NewEncoder(w)
	for _, r := range all {
		x := exchanged{Schema: ExchangeSchema, Run: r.Run}
		if x.Samples, err = s.Samples(ctx, r.ID); err != nil {
			return runs, err
		}
		for _, name := range r.Files {
			data, err := s.File(ctx, r.ID, name)
			if err != nil {
				return runs, err
			}
			x.Files = append(x.Files, File{name, data})
		}
		if err := enc.Encode(x); err != nil {
			return runs, err
		}
		runs++
	}
	return runs, nil
}

// mostLine limits the length of a line of an export, in bytes.
const mostLine = 1 << 30

// Import adds the runs of an export. Existing runs are not changed.
func (s *Store) Import(ctx context.Context, r io.Reader) (runs int, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, mostLine)
	for n := 1; lines.Scan(); n++ {
		var x exchanged
		if err := json.Unmarshal(lines.Bytes(), &x); err != nil {
			return runs, fmt.Errorf("line %d: %w", n, err)
		}
		switch {
		case x.Schema != ExchangeSchema:
			return runs, fmt.Errorf("line %d: the schema is %q, want %s", n, x.Schema, ExchangeSchema)
		case x.Run.ID == "":
			return runs, fmt.Errorf("line %d: a run without an ID", n)
		}
		if _, err := s.Add(ctx, x.Run, x.Samples, x.Files); err != nil {
			return runs, fmt.Errorf("line %d: %w", n, err)
		}
		runs++
	}
	if err := lines.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("a line has more than %d bytes", mostLine)
		}
		return runs, err
	}
	return runs, nil
}
