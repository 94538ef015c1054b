package shelf

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// In returns the shelf of a cache directory.
func In(cacheDir string) Shelf { return Shelf{Dir: filepath.Join(cacheDir, "recordings")} }

// lastFile returns the file that contains the path of the latest recording, wherever that was
// written. It is beside the shelf.
func (s Shelf) lastFile() string { return filepath.Join(filepath.Dir(s.Dir), "last") }

// Remember makes a recording the last one, which commands take when the user names none.
func (s Shelf) Remember(path string) error {
	return os.WriteFile(s.lastFile(), []byte(path+"\n"), 0o644)
}

// Last returns the path of the latest recording.
func (s Shelf) Last() (string, error) {
	b, err := os.ReadFile(s.lastFile())
	if os.IsNotExist(err) {
		return "", fmt.Errorf("there is no last recording yet; name one, or create one with `hone record TARGET`")
	}
	if err != nil {
		return "", fmt.Errorf("find the last recording: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}

// Path returns the path of a recording that the user named: a file, or the name or label of a
// recording on the shelf. Other names are returned unchanged.
func (s Shelf) Path(name string) string {
	if filepath.Base(name) != name {
		return name
	}
	if _, err := os.Stat(name); err == nil {
		return name
	}
	if e, ok := s.Find(name); ok {
		return e.Path
	}
	return name
}

// ShortName returns the form in which commands print a recording: only the name for one on the
// shelf.
func (s Shelf) ShortName(path string) string {
	if filepath.Dir(path) == s.Dir {
		return filepath.Base(path)
	}
	return path
}
