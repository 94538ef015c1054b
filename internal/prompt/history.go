package prompt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// MaxHistory is the number of lines that a history keeps.
const MaxHistory = 500

// History is the lines that were typed, in memory and in a file. It has the methods of
// golang.org/x/term's History.
type History struct {
	path  string
	lines []string // oldest first
	err   error    // the first error of writing
}

// OpenHistory reads the history from a file, which need not exist yet. The file has one line per
// entry, oldest first; of a longer file the last MaxHistory lines are kept.
func OpenHistory(path string) (*History, error) {
	h := &History{path: path}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the history: %w", err)
	}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			h.lines = append(h.lines, line)
		}
	}
	if len(h.lines) > MaxHistory {
		h.lines = h.lines[len(h.lines)-MaxHistory:]
		if err := os.WriteFile(path, []byte(strings.Join(h.lines, "\n")+"\n"), 0o600); err != nil {
			return nil, fmt.Errorf("shorten the history: %w", err)
		}
	}
	return h, nil
}

// Add appends a line, also to the file. Empty lines and repetitions of the last line are not kept.
// Err returns an error of the file.
func (h *History) Add(line string) {
	line = strings.TrimSpace(line)
	if line == "" || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return
	}
	if h.lines = append(h.lines, line); len(h.lines) > MaxHistory {
		h.lines = h.lines[1:]
	}
	if err := h.write(line); err != nil && h.err == nil {
		h.err = fmt.Errorf("write the history: %w", err)
	}
}

func (h *History) write(line string) error {
	if h.path == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(h.path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(h.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	return errors.Join(err, f.Close())
}

// Len returns the number of lines.
func (h *History) Len() int { return len(h.lines) }

// At returns a line; 0 is the last one. It panics if i is not below Len.
func (h *History) At(i int) string { return h.lines[len(h.lines)-1-i] }

// Err returns the first error of writing the file.
func (h *History) Err() error { return h.err }
