package shelf

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	recordingExt = ".hone"
	labelExt     = ".label"
)

// Shelf is the directory with the recordings. It need not exist.
type Shelf struct{ Dir string }

// Limits apply to the recordings without a label. A zero field means no limit.
type Limits struct {
	Bytes int64         // total size of the recordings
	Age   time.Duration // time since a recording was made
}

// DefaultLimits apply when the user sets none.
var DefaultLimits = Limits{Bytes: 2 << 30, Age: 30 * 24 * time.Hour}

// newest is the number of latest recordings that Prune never removes: they may be in use.
const newest = 5

// Entry is one recording.
type Entry struct {
	Name  string    `json:"name"` // of the file
	Path  string    `json:"path"`
	Label string    `json:"label,omitempty"`
	Bytes int64     `json:"bytes"`
	Made  time.Time `json:"made"` // when the file was last written
}

// Reserve creates an empty recording with an unused name and returns its path. If the name is in
// use, a number is inserted before its extension. The caller overwrites the file with the
// recording, or removes it.
func (s Shelf) Reserve(name string) (string, error) {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return "", fmt.Errorf("create a file for the recording: %w", err)
	}
	stem := strings.TrimSuffix(name, recordingExt)
	for i := 1; ; i++ {
		path := filepath.Join(s.Dir, stem+recordingExt)
		if i > 1 {
			path = filepath.Join(s.Dir, fmt.Sprintf("%s-%d%s", stem, i, recordingExt))
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		switch {
		case err == nil:
			return path, f.Close()
		case !errors.Is(err, fs.ErrExist):
			return "", fmt.Errorf("create a file for the recording: %w", err)
		}
	}
}

// List returns the recordings, latest first, without reserved names.
func (s Shelf) List() ([]Entry, error) {
	files, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the recordings: %w", err)
	}
	var out []Entry
	for _, f := range files {
		info, err := f.Info()
		if err != nil || !info.Mode().IsRegular() || filepath.Ext(f.Name()) != recordingExt || strings.HasPrefix(f.Name(), ".") || info.Size() == 0 {
			continue // being written, removed in the meantime, or not a recording
		}
		path := filepath.Join(s.Dir, f.Name())
		out = append(out, Entry{Name: f.Name(), Path: path, Label: readLabel(path), Bytes: info.Size(), Made: info.ModTime()})
	}
	slices.SortFunc(out, func(a, b Entry) int {
		return cmp.Or(b.Made.Compare(a.Made), strings.Compare(b.Name, a.Name))
	})
	return out, nil
}

func readLabel(path string) string {
	text, err := os.ReadFile(path + labelExt)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// Find returns the recording with a name (with or without its extension) or a label.
func (s Shelf) Find(name string) (Entry, bool) {
	if name == "" || filepath.Base(name) != name {
		return Entry{}, false
	}
	all, err := s.List()
	if err != nil {
		return Entry{}, false
	}
	for _, of := range []func(Entry) bool{
		func(e Entry) bool { return e.Name == name },
		func(e Entry) bool { return e.Label == name },
		func(e Entry) bool { return e.Name == name+recordingExt },
	} {
		if i := slices.IndexFunc(all, of); i >= 0 {
			return all[i], true
		}
	}
	return Entry{}, false
}

// Label labels a recording: Prune no longer removes it. A label is one word; "" removes the label.
func (s Shelf) Label(name, label string) (Entry, error) {
	e, err := s.find(name)
	if err != nil {
		return e, err
	}
	if label == "" {
		if err := os.Remove(e.Path + labelExt); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return e, fmt.Errorf("label %s: %w", e.Name, err)
		}
		e.Label = ""
		return e, nil
	}
	if err := checkLabel(label); err != nil {
		return e, fmt.Errorf("label %s: %w", e.Name, err)
	}
	if other, ok := s.Find(label); ok && other.Name != e.Name {
		return e, fmt.Errorf("label %s: %s already has the label %q; choose another label, or remove that recording", e.Name, other.Name, label)
	}
	if err := os.WriteFile(e.Path+labelExt, []byte(label+"\n"), 0o644); err != nil {
		return e, fmt.Errorf("label %s: %w", e.Name, err)
	}
	e.Label = label
	return e, nil
}

// maxLabel is the maximum length of a label, in bytes.
const maxLabel = 64

func checkLabel(label string) error {
	if len(label) > maxLabel {
		return fmt.Errorf("a label has at most %d bytes", maxLabel)
	}
	for _, r := range label {
		if r <= ' ' || r == 0x7f || strings.ContainsRune(`/\:"'*?<>|`, r) {
			return fmt.Errorf("%q cannot be a label: a label is one word of letters, digits, dots and dashes", label)
		}
	}
	if label[0] == '-' || label[0] == '.' || strings.HasSuffix(label, recordingExt) {
		return fmt.Errorf("%q cannot be a label: it looks like a flag or a file", label)
	}
	return nil
}

// Remove removes a recording and its label.
func (s Shelf) Remove(name string) (Entry, error) {
	e, err := s.find(name)
	if err != nil {
		return e, err
	}
	return e, s.remove(e)
}

func (s Shelf) remove(e Entry) error {
	if err := os.Remove(e.Path); err != nil {
		return fmt.Errorf("remove %s: %w", e.Name, err)
	}
	os.Remove(e.Path + labelExt) // useless without the recording
	return nil
}

func (s Shelf) find(name string) (Entry, error) {
	e, ok := s.Find(name)
	if !ok {
		return e, fmt.Errorf("no recording %q in the cache (`hone recordings` lists them)", name)
	}
	return e, nil
}

// Prune removes recordings without a label that are too old, then the oldest ones until the rest is
// within the size limit. It keeps the newest ones. It returns what it removed; recordings that
// cannot be removed stay.
func (s Shelf) Prune(now time.Time, limits Limits) ([]Entry, error) {
	s.dropReservations(now)
	all, err := s.List()
	if err != nil {
		return nil, err
	}
	var removed []Entry
	var total int64
	for i, e := range all { // latest first
		if e.Label != "" {
			continue
		}
		old := limits.Age > 0 && now.Sub(e.Made) > limits.Age
		large := limits.Bytes > 0 && total+e.Bytes > limits.Bytes
		if i >= newest && (old || large) && s.remove(e) == nil {
			removed = append(removed, e)
			continue
		}
		total += e.Bytes
	}
	return removed, nil
}

// abandoned is the age at which a reserved name without a recording is removed.
const abandoned = 48 * time.Hour

func (s Shelf) dropReservations(now time.Time) {
	files, _ := filepath.Glob(filepath.Join(s.Dir, "*"+recordingExt))
	for _, f := range files {
		if info, err := os.Stat(f); err == nil && info.Size() == 0 && now.Sub(info.ModTime()) > abandoned {
			os.Remove(f)
		}
	}
}
