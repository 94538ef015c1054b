package recording

import (
	"archive/zip"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Limits on both sides: what a Writer refuses to write and what Open refuses to read. Real
// recordings stay far below them (about twenty parts, the trace at most 64 MB). They keep a hostile
// file from taking memory or time.
const (
	MaxPartBytes     = 1 << 30   // one part's content
	MaxWholeBytes    = 128 << 20 // one part's content that Bytes returns in one piece
	maxManifestBytes = 16 << 20  // manifest.json's content
	maxParts         = 1000
	maxDirectory     = 1 << 20 // bytes of the central directory
	maxNameBytes     = 200
	maxEndsTried     = 64 // end records that Open tries in a cut file
)

const manifestName = "manifest.json"

// Parts unpack to 2 to 50 times their size, a dump of many goroutines that wait at one line to
// about 150 times. Profiles are compressed before they become a part; those of other tools unpack
// to 3 to 10 times. A part beyond both limits is refused as a bomb before any of it is unpacked.
const (
	bombBytes        = 32 << 20
	bombRatio        = 400
	bombProfileRatio = 30
)

// ErrBomb is wrapped by the error for a part that unpacks to far more than it takes in the file.
var ErrBomb = errors.New("no real part does")

// bomb returns the error for an entry that is a bomb; nil for others.
func bomb(f *zip.File) error {
	packed, unpacked, ratio := f.CompressedSize64, f.UncompressedSize64, uint64(bombRatio)
	if strings.HasSuffix(f.Name, ".pprof") {
		ratio = bombProfileRatio
	}
	if unpacked <= bombBytes || unpacked/ratio <= packed {
		return nil
	}
	return fmt.Errorf("%d bytes in the file unpack to %d, %d times as much: %w", packed, unpacked, unpacked/max(packed, 1), ErrBomb)
}

// checkName refuses names that would be written elsewhere when the zip is unpacked.
func checkName(name string) error {
	switch {
	case len(name) > maxNameBytes:
		return fmt.Errorf("part name of %d bytes (at most %d)", len(name), maxNameBytes)
	case !fs.ValidPath(name) || name == "." || strings.HasPrefix(name, ".") || strings.ContainsAny(name, "\\:"):
		return fmt.Errorf("bad part name %q", name)
	case strings.EqualFold(name, manifestName):
		return fmt.Errorf("part name %q is the manifest's", name)
	}
	for _, r := range name {
		if r < ' ' || r == 0x7f {
			return fmt.Errorf("bad part name %q", name)
		}
	}
	return nil
}
