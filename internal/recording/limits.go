package recording

import (
	"fmt"
	"io/fs"
	"strings"
)

// Limits on both sides: what a Writer refuses to write and what Open refuses to
// read. Real recordings stay far below them (about twenty parts, the trace at
// most 64 MB); they keep a hostile file from costing memory or time.
const (
	MaxPartBytes     = 1 << 30  // one part's content
	maxManifestBytes = 16 << 20 // manifest.json's content
	maxParts         = 1000
	maxDirectory     = 1 << 20 // bytes of the central directory
	maxNameBytes     = 200
	maxEndsTried     = 64 // end records that Open tries in a cut file
)

const manifestName = "manifest.json"

// checkName refuses names that would land elsewhere when the zip is unpacked.
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
