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

// Shelf is the folder with the recordings. It need not exist.
type Shelf struct{ Dir string }

// Limits bound what is on the shelf without a label. A zero field is no limit.
type Limits struct {
	Bytes int64         // of all recordings without a label
	Age   time.Duration // since a recording was made
}

// DefaultLimits hold when the user sets none.
var DefaultLimits = Limits{Bytes: 2 << 30, Age: 30 * 24 * time.Hour}

// newest recordings are never removed by Prune, whatever the limits: they are being looked at.
const newest = 5

// Entry is one recording.
type Entry struct {
	Name  string    `json:"name"` // of the file
	Path  string    `json:"path"`
	Label string    `json:"label,omitempty"`
	Bytes int64     `json:"bytes"`
	Made  time.Time `json:"made"` // when the file was last written
}

// Reserve creates an empty recording of a name that nobody else has, and returns its path. When the name
// is taken a number goes before its ending. The caller writes the recording over it, or removes it.
func (s Shelf) Reserve(name string) (string, error) {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return "", fmt.Errorf("make a place for the recording: %w", err)
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
			return "", fmt.Errorf("make a place for the recording: %w", err)
		}
	}
}

// List returns the recordings, the latest first. A reserved name without a recording is left out.
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
			continue // one that is being written, removed meanwhile, or none
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

// Find returns the recording of a name (with its ending or without) or of a label.
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

// Label names a recording for good: it is not removed by Prune any more. A label is one word; "" takes the
// label away.
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
		return e, fmt.Errorf("label %s: %s is called %q already; choose another label, or remove that recording", e.Name, other.Name, label)
	}
	if err := os.WriteFile(e.Path+labelExt, []byte(label+"\n"), 0o644); err != nil {
		return e, fmt.Errorf("label %s: %w", e.Name, err)
	}
	e.Label = label
	return e, nil
}

// maxLabel is the longest label, in bytes.
const maxLabel = 64

func checkLabel(label string) error {
	if len(label) > maxLabel {
		return fmt.Errorf("a label has at most %d bytes", maxLabel)
	}
	for _, r := range label {
		if r <= ' ' || r == 0x7f || strings.ContainsRune(`/\:"'*?<>|`, r) {
			return fmt.Errorf("a label is one word of letters, digits, dots and dashes; %q is none", label)
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
	os.Remove(e.Path + labelExt) // alone it says nothing
	return nil
}

func (s Shelf) find(name string) (Entry, error) {
	e, ok := s.Find(name)
	if !ok {
		return e, fmt.Errorf("no recording %q in the cache (`hone recordings` lists them)", name)
	}
	return e, nil
}

// Prune removes recordings without a label that are too old, then the oldest until the rest is within the
// limit of size. The newest ones stay. It returns what it removed; what cannot be removed stays.
func (s Shelf) Prune(now time.Time, limits Limits) ([]Entry, error) {
	s.dropReservations(now)
	all, err := s.List()
	if err != nil {
		return nil, err
	}
	var removed []Entry
	var total int64
	for i, e := range all { // the latest first
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

// abandoned is when a reserved name without a recording is nobody's any more.
const abandoned = 48 * time.Hour

func (s Shelf) dropReservations(now time.Time) {
	files, _ := filepath.Glob(filepath.Join(s.Dir, "*"+recordingExt))
	for _, f := range files {
		if info, err := os.Stat(f); err == nil && info.Size() == 0 && now.Sub(info.ModTime()) > abandoned {
			os.Remove(f)
		}
	}
}
