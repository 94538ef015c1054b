package render

import (
	"fmt"
	"io"
	"time"

	"github.com/hone-go/hone/internal/shelf"
)

// RecordingsList is the JSON of `hone recordings`.
type RecordingsList struct {
	Schema     string           `json:"schema"`
	Recordings []RecordingEntry `json:"recordings"`
}

// RecordingEntry is one recording in the cache.
type RecordingEntry struct {
	shelf.Entry
	Target string `json:"target,omitempty"` // as the user typed it; absent if the file cannot be read
}

// NewRecordings returns the list; target returns the target of a recording.
func NewRecordings(entries []shelf.Entry, target func(path string) string) RecordingsList {
	l := RecordingsList{Schema: "hone/recordings/v1", Recordings: []RecordingEntry{}}
	for _, e := range entries {
		l.Recordings = append(l.Recordings, RecordingEntry{Entry: e, Target: target(e.Path)})
	}
	return l
}

// Recordings draws the list, or the entries that were removed.
func Recordings(w io.Writer, l RecordingsList, removed bool, s Style) {
	if len(l.Recordings) == 0 {
		fmt.Fprintln(w, "No recordings in the cache. `hone run TARGET` creates one.")
		return
	}
	if removed {
		for _, r := range l.Recordings {
			line(w, "removed %s (%s)", r.Name, size(float64(r.Bytes)))
		}
		return
	}
	rows := [][]string{{"made", "size", "label", "target", "recording"}}
	var total int64
	for _, r := range l.Recordings {
		total += r.Bytes
		rows = append(rows, []string{r.Made.Local().Format(time.DateTime), size(float64(r.Bytes)), s.paint(strong, r.Label), r.Target, r.Name})
	}
	columns(w, s, rows, 1)
	if n := len(l.Recordings); n > 1 {
		fmt.Fprintln(w, s.paint(faint, fmt.Sprintf("%s, %s", plural(n, "recording"), size(float64(total)))))
	}
}
