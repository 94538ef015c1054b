package profile

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// legacyError returns an error that names the format of a profile in one of the formats older than
// profile.proto, those of C++ (gperftools, tcmalloc) and Java, recognized by the first bytes of the
// input as google/pprof does (profile/legacy_profile.go, profile/legacy_java_profile.go); nil for
// other input.
func legacyError(head []byte) error {
	what := legacyCPU(head)
	if what == "" {
		what = legacyText(string(head))
	}
	if what == "" {
		return nil
	}
	return fmt.Errorf("%s, which hone does not read; `go tool pprof -proto PROGRAM FILE > converted.pprof` converts it", what)
}

// legacyCPU returns a description of binary CPU profiles, "" for other input. They consist of words
// of 4 or 8 bytes in either byte order, of which the first five are 0, 3 (the number of header
// words that follow), the version, the period in microseconds, and 0.
func legacyCPU(head []byte) string {
	for _, size := range []int{8, 4} {
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			var w [5]uint64
			if len(head) < size*len(w) {
				continue
			}
			for i := range w {
				if size == 8 {
					w[i] = order.Uint64(head[8*i:])
				} else {
					w[i] = uint64(order.Uint32(head[4*i:]))
				}
			}
			if w[0] != 0 || w[1] != 3 || w[2] > 1 || w[3] == 0 || w[4] != 0 {
				continue
			}
			if w[2] == 1 {
				return "a CPU profile in the old format of Java"
			}
			return "a CPU profile in the old format of C++ (gperftools)"
		}
	}
	return ""
}

// legacyHeap matches the first line of heap texts; Go's end in "heap/" and a number.
var legacyHeap = regexp.MustCompile(`^heap profile: *\d+: *\d+ *\[ *\d+: *\d+ *\] *@ *([a-z_0-9]+)`)

// legacyText returns a description of profiles that are text.
func legacyText(head string) string {
	lines := strings.Split(head, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	if m := legacyHeap.FindStringSubmatch(lines[0]); m != nil {
		if m[1] == "heap" {
			return "" // Go's
		}
		return fmt.Sprintf("a heap profile in the old format of C++ (tcmalloc's %q)", m[1])
	}
	kind, ok := strings.CutPrefix(lines[0], "--- ")
	kind, _, _ = strings.Cut(strings.TrimRight(kind, " -:"), " ")
	switch {
	case !ok:
	case slices.Contains(lines[1:], "format = java"):
		return fmt.Sprintf("a profile %q in the old format of Java", kind)
	case slices.Contains([]string{"heapz", "growthz", "contentionz", "threadz", "Thread", "Memory", "symbol", "profile", "heap", "growth"}, kind):
		return fmt.Sprintf("a profile %q in an old format of C++ or Java", kind)
	}
	return ""
}
