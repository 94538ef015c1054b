package recording

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Writer appends parts to a recording. After each call the file on disk is a
// complete, readable recording: it can be cut off at any time. A Writer may be
// used by several goroutines.
type Writer struct {
	path string
	now  func() time.Time

	mu       sync.Mutex
	file     appendFile // nil until the first checkpoint
	size     int64      // end of the last checkpoint
	entries  []entry    // the live parts; the manifest's own is re-created each time
	manifest Manifest
	closed   bool

	// begin puts the first checkpoint at path and opens it; tests replace it.
	begin func(path string, first []byte) (appendFile, error)
}

// appendFile is what the Writer needs of a file.
type appendFile interface {
	io.WriterAt
	Truncate(int64) error
	Sync() error
	Close() error
}

// Create starts a recording at path. Nothing is written there until the first Add or Sync, which
// replaces an existing file in one step. Create fails when path is a directory or its directory is
// not writable, so that no run is wasted. Create sets Schema, and ID and Created when m leaves them
// empty; the list of parts starts empty.
func Create(path string, m Manifest) (*Writer, error) {
	if err := checkWritable(path); err != nil {
		return nil, fmt.Errorf("create recording %s: %w", path, err)
	}
	w := &Writer{path: path, now: time.Now, begin: beginFile}
	m.Schema = Schema
	if m.Created.IsZero() {
		m.Created = w.now().UTC().Truncate(time.Millisecond)
	}
	if m.ID == "" {
		m.ID = newID(m.Created)
	}
	m.Complete = false
	m.Parts = nil
	w.manifest = m.clone()
	return w, nil
}

// newID returns a name that sorts by time and does not collide.
func newID(at time.Time) string {
	var b [4]byte
	rand.Read(b[:]) // never fails (crypto/rand)
	return at.UTC().Format("20060102-150405-") + hex.EncodeToString(b[:])
}

// checkWritable creates and removes a file beside path.
func checkWritable(path string) error {
	if path == "" {
		return errors.New("no file name")
	}
	fi, err := os.Stat(path)
	switch {
	case err == nil && fi.IsDir():
		return errors.New("is a directory")
	case err == nil && !fi.Mode().IsRegular():
		return fmt.Errorf("is not a regular file (%s)", fi.Mode().Type())
	}
	f, err := createBeside(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// createBeside creates a hidden file in path's directory. Unlike os.CreateTemp it leaves the mode
// to the umask: recordings are passed around.
func createBeside(path string) (*os.File, error) {
	name := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+rand.Text()[:8])
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

// beginFile writes to a file beside path, renames it to path and opens it. It is closed in between,
// because Windows renames no open file.
func beginFile(path string, first []byte) (_ appendFile, err error) {
	f, err := createBeside(path)
	if err != nil {
		return nil, err
	}
	tmp := f.Name()
	defer func() {
		if err != nil {
			os.Remove(tmp)
		}
	}()
	_, err = f.Write(first)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if err = os.Rename(tmp, path); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY, 0)
}

// Add appends a part; its size and checksum go into the manifest. A part of the
// same name replaces the earlier one. On an error (a full disk) the file stays
// as it was before the call and the Writer can still be used.
func (w *Writer) Add(name, phase string, data []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.add(name, phase, data); err != nil {
		return fmt.Errorf("recording %s: add %s: %w", w.path, name, explain(err))
	}
	return nil
}

func (w *Writer) add(name, phase string, data []byte) error {
	if w.closed {
		return os.ErrClosed
	}
	if err := checkName(name); err != nil {
		return err
	}
	if len(data) > MaxPartBytes {
		return fmt.Errorf("%d bytes are more than a part may hold (%d)", len(data), MaxPartBytes)
	}
	at := slices.IndexFunc(w.manifest.Parts, func(p Part) bool { return p.Name == name })
	if at < 0 && len(w.entries) >= maxParts {
		return fmt.Errorf("more than %d parts", maxParts)
	}
	e, body, err := pack(name, data, w.now(), w.size)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	part := Part{Name: name, Bytes: int64(len(data)), SHA256: hex.EncodeToString(sum[:]), Phase: phase}

	entries, m := slices.Clone(w.entries), w.manifest.clone()
	if at < 0 {
		entries, m.Parts = append(entries, e), append(m.Parts, part)
	} else {
		entries[at], m.Parts[at] = e, part
	}
	block := append(e.appendLocal(nil), body...)
	if err := w.checkpoint(block, entries, m); err != nil {
		return err
	}
	w.entries, w.manifest = entries, m
	return nil
}

// Drop removes the parts for which drop returns true. The change is written with the next Add, Sync
// or Close; the space that the parts take in the file is not freed.
func (w *Writer) Drop(drop func(Part) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var entries []entry
	var parts []Part
	for i, p := range w.manifest.Parts {
		if !drop(p) {
			entries, parts = append(entries, w.entries[i]), append(parts, p)
		}
	}
	w.entries, w.manifest.Parts = entries, parts
}

// checkpoint appends block, the manifest, the directory and the end record.
func (w *Writer) checkpoint(block []byte, entries []entry, m Manifest) error {
	text, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return fmt.Errorf("encode manifest: %w", err)
	}
	if len(text) > maxManifestBytes {
		return fmt.Errorf("manifest of %d bytes (at most %d)", len(text), maxManifestBytes)
	}
	me, body, err := pack(manifestName, text, w.now(), w.size+int64(len(block)))
	if err != nil {
		return err
	}
	block = append(me.appendLocal(block), body...)
	start := len(block)
	for _, e := range entries {
		block = e.appendCentral(block)
	}
	block = me.appendCentral(block)
	if w.size+int64(len(block))+endLen > maxZipOffset {
		return errors.New("the recording would grow beyond 4 GiB")
	}
	block = appendEnd(block, len(entries)+1, uint32(w.size)+uint32(start), uint32(len(block)-start))
	return w.append(block)
}

// append writes block after the last checkpoint, or truncates the file back to it.
func (w *Writer) append(block []byte) error {
	if w.file == nil {
		f, err := w.begin(w.path, block)
		if err != nil {
			return err
		}
		w.file, w.size = f, int64(len(block))
		return nil
	}
	if _, err := w.file.WriteAt(block, w.size); err != nil {
		// Open copes with a torn end, but the space is better freed: the final manifest may still
		// fit.
		return errors.Join(err, w.file.Truncate(w.size))
	}
	w.size += int64(len(block))
	return nil
}

// explain states the cause of a failed write.
func explain(err error) error {
	if diskFull(err) {
		return fmt.Errorf("disk full: %w", err)
	}
	return err
}

// Update changes the manifest (phases, notes, missing parts); written with the
// next Add, Sync or Close. f must not call the Writer and must leave Parts alone.
func (w *Writer) Update(f func(*Manifest)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	parts := w.manifest.Parts
	f(&w.manifest)
	w.manifest.Parts, w.manifest.Schema = parts, Schema
}

// Manifest returns a copy of the current manifest.
func (w *Writer) Manifest() Manifest {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.manifest.clone()
}

// Started reports whether anything is on disk yet.
func (w *Writer) Started() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.file != nil
}

// Sync writes the manifest now.
func (w *Writer) Sync() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sync()
}

func (w *Writer) sync() error {
	if w.closed {
		return fmt.Errorf("recording %s: write manifest: %w", w.path, os.ErrClosed)
	}
	if err := w.checkpoint(nil, w.entries, w.manifest); err != nil {
		return fmt.Errorf("recording %s: write manifest: %w", w.path, explain(err))
	}
	return nil
}

// Close marks the recording as complete when complete is true, and closes the file. When nothing
// was ever added or synced, no file is left at path. A second Close does nothing.
func (w *Writer) Close(complete bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	if w.file == nil {
		w.closed = true
		return nil
	}
	w.manifest.Complete = complete
	err := w.sync()
	w.closed = true
	if cerr := errors.Join(w.file.Sync(), w.file.Close()); cerr != nil {
		err = errors.Join(err, fmt.Errorf("recording %s: close: %w", w.path, explain(cerr)))
	}
	return err
}
