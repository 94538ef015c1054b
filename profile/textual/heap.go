package textual

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/hone-go/hone/profile"
)

// Go's heap and allocs text. The header holds twice the sampling rate; a record holds
// objects and bytes in use and, in brackets, allocated:
//
//	heap profile: 131: 8454352 [147: 8516176] @ heap/131072
//	100: 6553600 [101: 6619136] @ 0x47c6b3 0x47f689 0x4dcac5
var (
	heapHeader = regexp.MustCompile(`^heap profile: *\d+: *\d+ *\[ *\d+: *\d+ *\] *@ *heap/(\d+)$`)
	heapValues = regexp.MustCompile(`^(-?\d+): *(-?\d+) *\[ *(\d+): *(\d+) *\]$`)
)

func isHeap(head []string) bool { return heapHeader.MatchString(strings.TrimSpace(head[0])) }

// readHeap reverses the sampling as google/pprof does (profile/legacy_profile.go, scaleHeapSample).
// Unlike there, all four values are always present, as in the binary format, so that profiles can
// be subtracted and summed.
func readHeap(r *reader) (*profile.Profile, error) {
	r.nextFull()
	double, err := strconv.ParseInt(heapHeader.FindStringSubmatch(strings.TrimSpace(r.text))[1], 10, 64)
	if err != nil {
		return nil, fmt.Errorf("sampling rate: %w", err)
	}
	rate := double / 2
	b := profile.NewBuilder(
		profile.ValueType{Type: "alloc_objects", Unit: "count"}, profile.ValueType{Type: "alloc_space", Unit: "bytes"},
		profile.ValueType{Type: "inuse_objects", Unit: "count"}, profile.ValueType{Type: "inuse_space", Unit: "bytes"},
	)
	comments, err := r.goRecords(func(rec *goRecord) error {
		v, size, err := heapRecord(rec.values, rate)
		if err != nil {
			return err
		}
		b.AddLabeled(rec.stack(), []profile.Label{{Key: "bytes", Num: size}}, v[:]...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	p, err := b.Profile()
	if err != nil {
		return nil, err
	}
	p.PeriodType, p.Period = profile.ValueType{Type: "space", Unit: "bytes"}, rate
	p.Comments = comments
	return p, nil
}

// heapRecord returns the objects and bytes allocated, the objects and bytes in use, and the size of
// an object.
func heapRecord(text string, rate int64) (v [4]int64, size int64, err error) {
	m := heapValues.FindStringSubmatch(text)
	if m == nil {
		return v, 0, fmt.Errorf("%s: want OBJECTS: BYTES [OBJECTS: BYTES]", shorten(text))
	}
	var n [4]int64
	for i, s := range []string{m[3], m[4], m[1], m[2]} {
		if n[i], err = strconv.ParseInt(s, 10, 64); err != nil {
			return v, 0, err
		}
	}
	for i := 0; i < 4; i += 2 {
		objects, bytes := n[i], n[i+1]
		if objects == 0 && bytes != 0 {
			return v, 0, fmt.Errorf("%s: %d bytes in no objects", shorten(text), bytes)
		}
		if objects != 0 {
			size = bytes / objects
			v[i], v[i+1] = unsample(objects, bytes, rate)
		}
	}
	return v, size, nil
}

// unsample estimates the real number of objects and bytes from the sampled ones. The runtime
// samples one byte in rate on average, by a Poisson process, so an object of S bytes is sampled
// with probability 1−exp(−S/rate). A rate of at most 1 means that every object is sampled.
func unsample(objects, bytes, rate int64) (int64, int64) {
	if objects == 0 || bytes == 0 {
		return 0, 0
	}
	if rate <= 1 {
		return objects, bytes
	}
	scale := 1 / (1 - math.Exp(-float64(bytes)/float64(objects)/float64(rate)))
	return int64(float64(objects) * scale), int64(float64(bytes) * scale)
}
