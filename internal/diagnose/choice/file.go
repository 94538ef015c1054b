package choice

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// FileName is the name of a repository's choices.
const FileName = "hone.json"

// maxFile bounds it.
const maxFile = 1 << 20

// File is a repository's choices.
type File struct {
	Path   string   `json:"-"`
	Rules  string   `json:"rules"` // as -rules takes it
	Ignore []Ignore `json:"ignore"`
	// Gate is for `hone gate`, which reads it.
	Gate json.RawMessage `json:"gate"`
}

// Ignore silences findings of a rule: in a file, a function, or everywhere.
type Ignore struct {
	Rule     string `json:"rule"`     // an ID, a kind, a pattern with *, or "all"
	File     string `json:"file"`     // as reports name it, relative to its module; a pattern with *; a directory with all below it; "" for all
	Function string `json:"function"` // "main.join", "main.(*T).M"; a pattern with *; "" for all
	Reason   string `json:"reason"`
}

// Find returns the choices of the repository that a directory is in: the nearest hone.json in it or
// above, up to the directory that holds .git or, without one, the nearest that holds go.mod. Files
// further up belong to another project. nil when there is none. Errors name the file.
func Find(dir string, known Known) (*File, error) {
	if dir == "" || !filepath.IsAbs(dir) {
		return nil, nil
	}
	for root := rootOf(dir); ; dir = filepath.Dir(dir) {
		f, err := read(filepath.Join(dir, FileName), known)
		if dir == root || !errors.Is(err, fs.ErrNotExist) {
			if errors.Is(err, fs.ErrNotExist) {
				return nil, nil
			}
			return f, err
		}
	}
}

// rootOf returns the directory of the repository, else of the module, else the directory itself.
func rootOf(dir string) string {
	holds := func(dir, name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
	module := ""
	for at := dir; ; at = filepath.Dir(at) {
		if holds(at, ".git") {
			return at
		}
		if module == "" && holds(at, "go.mod") {
			module = at
		}
		if at == filepath.Dir(at) {
			return cmp.Or(module, dir)
		}
	}
}

func read(name string, known Known) (*File, error) {
	fd, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer fd.Close()
	text, err := io.ReadAll(io.LimitReader(fd, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("%s: over %d bytes", name, maxFile)
	}
	f, err := Parse(text, known)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	f.Path = name
	return f, nil
}

// Parse reads the text of a hone.json.
func Parse(text []byte, known Known) (*File, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	f := &File{}
	if err := d.Decode(f); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more after the object")
	}
	if _, err := known.Off(f.Rules); err != nil {
		return nil, err
	}
	for i, g := range f.Ignore {
		if _, err := known.named(g.Rule); err != nil {
			return nil, fmt.Errorf("ignore[%d]: %w", i, err)
		}
		if strings.TrimSpace(g.Reason) == "" {
			return nil, fmt.Errorf("ignore[%d]: want a reason", i)
		}
		for _, pattern := range []string{g.File, g.Function} {
			if _, err := path.Match(pattern, ""); err != nil {
				return nil, fmt.Errorf("ignore[%d]: %q: %w", i, pattern, err)
			}
		}
	}
	return f, nil
}

// Covers reports whether an entry silences a rule's finding in a function of a file. Both are ""
// for findings about the whole program.
func (g Ignore) Covers(known Known, id, file, function string) bool {
	return known.Is(g.Rule, id) && (g.File == "" || inFile(g.File, file)) && (g.Function == "" || like(g.Function, function))
}

// inFile reports whether a pattern names a file, or a directory above it.
func inFile(pattern, file string) bool {
	pattern = strings.TrimSuffix(strings.TrimSuffix(pattern, "/..."), "/")
	for ; file != "." && file != "/" && file != ""; file = path.Dir(file) {
		if like(pattern, file) {
			return true
		}
	}
	return false
}

// like is path.Match, or equality: names of methods contain brackets and stars.
func like(pattern, name string) bool {
	if pattern == name {
		return true
	}
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}
