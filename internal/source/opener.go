package source

import (
	"crypto/tls"
	"io"
	"time"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/shelf"
)

// Opener opens sources. The zero value opens files and URLs.
type Opener struct {
	CacheDir string                   // hone's cache: recordings without a path, builds and compiler facts
	Progress func(phase, text string) // is called with what hone is doing, in a few words; nil for no progress
	Stdin    io.Reader                // the meaning of "-"; may be nil if no source is "-"
	Traces   *Traces                  // keeps the traces that were read; nil to keep none
	Options
}

// Options says how to read a source.
type Options struct {
	// Seconds is the length of a CPU profile (0 = 30) or an execution trace (0 = 5) taken from a
	// URL. For other profiles it is the time between two profiles, which are subtracted; 0 = one
	// profile.
	Seconds int
	// SampleIndex chooses the part of a recording if the user named none: alloc_space means allocs,
	// inuse_space heap, …; "" means cpu.
	SampleIndex string
	// From and To are the interval of an execution trace to make a profile of, since its first
	// event; To 0 is its end.
	From, To time.Duration
	TLS      *tls.Config // for https URLs; nil for the system's
	Header   [][2]string // name and value of request headers
}

// Say reports progress.
func (o Opener) Say(phase, text string) {
	if o.Progress != nil {
		o.Progress(phase, text)
	}
}

// Shelf returns the shelf with the recordings that have no path given by the user.
func (o Opener) Shelf() shelf.Shelf { return shelf.In(o.CacheDir) }

// Recording opens a recording by its path, or by its name or label in the cache. "" is the last
// one. The caller must close it.
func (o Opener) Recording(name string) (*recording.Recording, error) {
	if name == "" {
		last, err := o.Shelf().Last()
		if err != nil {
			return nil, err
		}
		name = last
	}
	return recording.Open(o.Shelf().Path(name))
}

// Manifest reads the manifest of a recording, named as in Recording.
func (o Opener) Manifest(name string) (recording.Manifest, error) {
	rec, err := o.Recording(name)
	if err != nil {
		return recording.Manifest{}, err
	}
	defer rec.Close()
	return rec.Manifest, nil
}
