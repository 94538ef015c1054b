package recording

import (
	"io"
)

// Writer appends parts to a recording. After each call the file on disk is a
// complete, readable recording: it can be cut off at any time.
type Writer struct{}

// Create begins a recording at path, replacing what was there on the first Add.
func Create(path string, m Manifest) (*Writer, error) { panic("contract") }

// Add appends a part; its size and checksum go into the manifest.
func (w *Writer) Add(name, phase string, data []byte) error { panic("contract") }

// Update changes the manifest (phases, notes, missing parts); written with the next Add, Sync or Close.
func (w *Writer) Update(f func(*Manifest)) { panic("contract") }

// Manifest returns a copy of the manifest as it stands.
func (w *Writer) Manifest() Manifest { panic("contract") }

// Sync writes the manifest now.
func (w *Writer) Sync() error { panic("contract") }

// Close marks the recording complete when complete is true and closes the file.
func (w *Writer) Close(complete bool) error { panic("contract") }

// Recording is an opened recording.
type Recording struct {
	Manifest Manifest
	Path     string
	// Cut says that the file ended early and was opened up to its last finished part.
	Cut bool
}

// Open reads the manifest of a recording. A file cut off half-way opens up to
// its last finished part; a foreign or broken one gives an error that says what it is.
func Open(path string) (*Recording, error) { panic("contract") }

// Has tells whether the part is there.
func (r *Recording) Has(name string) bool { panic("contract") }

// Part opens a part; a missing one gives an error with the manifest's reason.
func (r *Recording) Part(name string) (io.ReadCloser, error) { panic("contract") }

// Phase returns the phase of that name.
func (r *Recording) Phase(name string) (Phase, bool) { panic("contract") }

// Verify reads every part and compares sizes and checksums.
func (r *Recording) Verify() error { panic("contract") }

// Close closes the file.
func (r *Recording) Close() error { panic("contract") }
