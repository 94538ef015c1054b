package profile_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	pprof "github.com/google/pprof/profile"

	"github.com/hone-go/hone/profile"
)

// words returns five words of a binary profile's header, and a record.
func words(order binary.AppendByteOrder, size int, version uint64) []byte {
	var b []byte
	for _, w := range []uint64{0, 3, version, 10_000, 0, 1, 1, 0x1234, 0, 1, 0} {
		if size == 8 {
			b = order.AppendUint64(b, w)
		} else {
			b = order.AppendUint32(b, uint32(w))
		}
	}
	return b
}

// TestLegacyFormatsAreNamed: formats that google/pprof reads, other than protobuf and Go's texts,
// are named in the error, with the way to convert them.
func TestLegacyFormatsAreNamed(t *testing.T) {
	const heap = "heap profile: 1: 2 [3: 4] @ "
	for _, x := range []struct{ name, data, want string }{
		{"8 bytes", string(words(binary.LittleEndian, 8, 0)), "C++ (gperftools)"},
		{"4 bytes", string(words(binary.LittleEndian, 4, 0)), "C++ (gperftools)"},
		{"8 bytes, big-endian", string(words(binary.BigEndian, 8, 0)), "C++ (gperftools)"},
		{"4 bytes, big-endian", string(words(binary.BigEndian, 4, 0)), "C++ (gperftools)"},
		{"java", string(words(binary.LittleEndian, 8, 1)), "of Java"},
		{"heapprofile", heap + "heapprofile\n  1: 2 [3: 4] @ 0x1 0x2\n", "tcmalloc"},
		{"heap_v2", heap + "heap_v2/524288\n  1: 2 [3: 4] @ 0x1 0x2\n", "tcmalloc"},
		{"growth", heap + "growthz\n", "tcmalloc"},
		{"java heap", "--- heapz 1 ---\nformat = java\nresolution = bytes\n", `"heapz" in the old format of Java`},
		{"java contention", "--- contentionz 1 ---\nformat = java\n", `"contentionz" in the old format of Java`},
		{"threads", "--- threadz 1 ---\n\n--- Thread 7eff063d9940 (name: main/25376) stack: ---\n", `"threadz"`},
		{"with symbols", "--- symbol\nbinary=/bin/server\n0x1 main\n---\n--- profile\n\x00\x00", `"symbol"`},
	} {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		if _, err := z.Write([]byte(x.data)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		for _, data := range []string{x.data, packed.String()} {
			_, err := profile.Decode(strings.NewReader(data), 0)
			if err == nil || !strings.Contains(err.Error(), x.want) || !strings.Contains(err.Error(), "go tool pprof -proto") {
				t.Errorf("%s: %v", x.name, err)
			}
		}
	}
	for _, mine := range []string{heap + "heap/524288\n", "--- mutex:\ncycles/second=1\n", "goroutine profile: total 3\n", "--- contention:\ncycles/second=1\n"} {
		if _, err := profile.Decode(strings.NewReader(mine), 0); !errors.Is(err, profile.ErrText) {
			t.Errorf("Go's own text %.20q: %v", mine, err)
		}
	}
}

// TestLegacyNamesAsTheOracle: what google/pprof reads as a legacy CPU profile is named as one.
func TestLegacyNamesAsTheOracle(t *testing.T) {
	for _, version := range []uint64{0, 1} {
		data := words(binary.LittleEndian, 8, version)
		if _, err := pprof.ParseData(data); err != nil && version == 0 {
			t.Errorf("google/pprof does not read the test's data: %v", err)
		}
	}
}
