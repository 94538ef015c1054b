package recording

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// ErrForeign is wrapped by Open's error for a file that is not a hone recording, or whose schema
// this version does not read.
var ErrForeign = errors.New("not a hone recording")

// Recording is an opened recording. Its parts may be read by several goroutines.
type Recording struct {
	Manifest Manifest
	Path     string
	// Cut reports that the file ended early and was opened up to its last finished part.
	Cut bool

	file  io.Closer
	files map[string]*zip.File
}

// Open reads the manifest of a recording. A file that was cut off opens up to its last finished
// part; for a foreign or broken file the error says what it is.
func Open(path string) (*Recording, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open recording: %w", err)
	}
	r, err := openFile(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	r.Path, r.file = path, f
	return r, nil
}

func openFile(f *os.File) (*Recording, error) {
	fi, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case fi.IsDir():
		return nil, foreign("it is a directory")
	case !fi.Mode().IsRegular():
		return nil, foreign("it is not a regular file (%s)", fi.Mode().Type())
	}
	return read(f, fi.Size())
}

// read finds the last checkpoint in size bytes of ra.
func read(ra io.ReaderAt, size int64) (*Recording, error) {
	if size == 0 {
		return nil, foreign("the file is empty")
	}
	if size > maxZipOffset {
		return nil, foreign("%d bytes are more than a recording can have", size)
	}
	head := make([]byte, min(size, 64))
	if _, err := ra.ReadAt(head, 0); err != nil {
		return nil, fmt.Errorf("read its beginning: %w", err)
	}
	if !bytes.HasPrefix(head, []byte("PK\x03\x04")) {
		return nil, foreign("%s", sniff(head))
	}
	var first error // of the last end record, the one that counts when none is intact
	tried := 0
	for e, err := range ends(ra, size) {
		if err != nil {
			return nil, err
		}
		r, err := readCheckpoint(ra, e)
		if err == nil {
			r.Cut = e.at+endLen+e.comment != size
			return r, nil
		}
		if first == nil {
			first = err
		}
		if tried++; tried >= maxEndsTried {
			break
		}
	}
	if first == nil {
		return nil, errors.New("the file ends before its first part was finished, nothing in it can be read")
	}
	return nil, first
}

// readCheckpoint reads directory and manifest of the checkpoint that e ends.
func readCheckpoint(ra io.ReaderAt, e end) (*Recording, error) {
	upto := e.at + endLen + e.comment
	z, err := zip.NewReader(io.NewSectionReader(ra, 0, upto), upto)
	if err != nil {
		return nil, fmt.Errorf("read zip directory: %w", err)
	}
	r := &Recording{files: make(map[string]*zip.File, len(z.File))}
	for _, f := range z.File {
		if strings.HasSuffix(f.Name, "/") {
			continue // a folder, from someone who packed it again
		}
		if r.files[f.Name] != nil {
			return nil, fmt.Errorf("read zip directory: %q occurs twice", f.Name)
		}
		r.files[f.Name] = f
	}
	mf := r.files[manifestName]
	if mf == nil {
		return nil, foreign("it is a zip without %s", manifestName)
	}
	text, err := readPart(mf, maxManifestBytes)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", manifestName, err)
	}
	if err := r.decodeManifest(text); err != nil {
		return nil, err
	}
	return r, r.checkParts()
}

func (r *Recording) decodeManifest(text []byte) error {
	// The schema first: a newer one may have other types in the same places.
	var s struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("decode %s: %w", manifestName, err)
	}
	switch family, _, _ := strings.Cut(Schema, "/v"); {
	case s.Schema == Schema:
	case strings.HasPrefix(s.Schema, family+"/v"):
		return fmt.Errorf("%w that this version can read: schema %q, this hone reads %q; a newer hone wrote it",
			ErrForeign, s.Schema, Schema)
	default:
		return foreign("its %s has the schema %q", manifestName, s.Schema)
	}
	if err := json.Unmarshal(text, &r.Manifest); err != nil {
		return fmt.Errorf("decode %s: %w", manifestName, err)
	}
	return nil
}

// checkParts compares the manifest with the directory.
func (r *Recording) checkParts() error {
	if n := len(r.Manifest.Parts); n > maxParts {
		return fmt.Errorf("%s names %d parts (at most %d)", manifestName, n, maxParts)
	}
	seen := make(map[string]bool, len(r.Manifest.Parts))
	for _, p := range r.Manifest.Parts {
		if err := checkName(p.Name); err != nil {
			return fmt.Errorf("%s: %w", manifestName, err)
		}
		if seen[p.Name] {
			return fmt.Errorf("%s names %s twice", manifestName, p.Name)
		}
		seen[p.Name] = true
		f := r.files[p.Name]
		switch {
		case f == nil:
			return fmt.Errorf("%s names %s, which the file does not hold", manifestName, p.Name)
		case p.Bytes < 0 || p.Bytes > MaxPartBytes:
			return fmt.Errorf("%s: %s of %d bytes (at most %d)", manifestName, p.Name, p.Bytes, MaxPartBytes)
		case f.UncompressedSize64 != uint64(p.Bytes):
			return fmt.Errorf("%s says %d bytes for %s, the zip directory %d",
				manifestName, p.Bytes, p.Name, f.UncompressedSize64)
		}
	}
	return nil
}

// readPart reads a whole entry of at most limit bytes.
func readPart(f *zip.File, limit int64) ([]byte, error) {
	if f.UncompressedSize64 > uint64(limit) {
		return nil, fmt.Errorf("%d bytes are more than the allowed %d", f.UncompressedSize64, limit)
	}
	if err := bomb(f); err != nil {
		return nil, err
	}
	rc, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer rc.Close()
	// archive/zip compares size and CRC-32 at the end, and stops at the declared size.
	return io.ReadAll(rc)
}

// Has reports whether the part is there.
func (r *Recording) Has(name string) bool {
	_, ok := r.part(name)
	return ok
}

func (r *Recording) part(name string) (Part, bool) {
	for _, p := range r.Manifest.Parts {
		if p.Name == name {
			return p, true
		}
	}
	return Part{}, false
}

// Part opens a part; for a missing one the error has the manifest's reason. The reader returns at
// most the size that the manifest states, and an error when the content is shorter, longer or fails
// its CRC-32. A part that is a bomb (see ErrBomb) is not opened.
func (r *Recording) Part(name string) (io.ReadCloser, error) {
	if _, ok := r.part(name); !ok {
		return nil, r.missing(name)
	}
	f := r.files[name]
	if err := bomb(f); err != nil {
		return nil, fmt.Errorf("open %s in %s: %w", name, r.Path, err)
	}
	rc, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("open %s in %s: %w", name, r.Path, err)
	}
	return rc, nil
}

// Bytes reads a whole part of at most MaxWholeBytes.
func (r *Recording) Bytes(name string) ([]byte, error) {
	p, ok := r.part(name)
	if !ok {
		return nil, r.missing(name)
	}
	data, err := readPart(r.files[name], min(p.Bytes, MaxWholeBytes))
	if err != nil {
		return nil, fmt.Errorf("read %s in %s: %w", name, r.Path, err)
	}
	return data, nil
}

// missing returns the error for a part that does not exist.
func (r *Recording) missing(name string) error {
	for _, m := range r.Manifest.Missing {
		if m.Part != name {
			continue
		}
		if m.How != "" {
			return fmt.Errorf("%s has no %s: %s (%s)", r.Path, name, m.Why, m.How)
		}
		return fmt.Errorf("%s has no %s: %s", r.Path, name, m.Why)
	}
	if r.Cut || !r.Manifest.Complete {
		return fmt.Errorf("%s has no %s: the recording was cut off", r.Path, name)
	}
	return fmt.Errorf("%s has no %s", r.Path, name)
}

// Phase returns the phase of that name.
func (r *Recording) Phase(name string) (Phase, bool) { return r.Manifest.Phase(name) }

// Verify reads every part and compares sizes and checksums. The error names all
// parts that fail.
func (r *Recording) Verify() error {
	var errs []error
	for _, p := range r.Manifest.Parts {
		if err := r.verify(p); err != nil {
			errs = append(errs, fmt.Errorf("verify %s in %s: %w", p.Name, r.Path, err))
		}
	}
	return errors.Join(errs...)
}

func (r *Recording) verify(p Part) error {
	if err := bomb(r.files[p.Name]); err != nil {
		return err
	}
	rc, err := r.files[p.Name].Open()
	if err != nil {
		return err
	}
	defer rc.Close()
	h := sha256.New()
	n, err := io.Copy(h, rc)
	if err != nil {
		return err
	}
	if n != p.Bytes {
		return fmt.Errorf("%d bytes, the manifest says %d", n, p.Bytes)
	}
	if sum := hex.EncodeToString(h.Sum(nil)); sum != p.SHA256 {
		return fmt.Errorf("SHA-256 %s, the manifest says %s", sum, p.SHA256)
	}
	return nil
}

// Close closes the file.
func (r *Recording) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}
