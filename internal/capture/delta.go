package capture

import (
	"bytes"
	"fmt"
	"time"

	"github.com/hone-go/hone/profile"
)

// maxProfileBytes bounds an inflated profile of the target.
const maxProfileBytes = 1 << 30

// subtract returns what a cumulative profile gained between two snapshots, length apart. In a heap
// profile the allocations are what was gained; the columns of memory in use hold the growth of the
// live heap, which can be negative. sampleType, when not empty, becomes the default of the result.
func subtract(after, before []byte, length time.Duration, sampleType string) ([]byte, error) {
	a, err := decode(after)
	if err != nil {
		return nil, fmt.Errorf("profile at the end: %w", err)
	}
	b, err := decode(before)
	if err != nil {
		return nil, fmt.Errorf("profile at the start: %w", err)
	}
	d, err := difference(a, b, length, sampleType)
	if err != nil {
		return nil, err
	}
	return encode(d)
}

func difference(a, b *profile.Profile, length time.Duration, sampleType string) (*profile.Profile, error) {
	d, err := profile.Subtract(a, b, profile.Subtraction{})
	if err != nil {
		return nil, err
	}
	gained := *d
	gained.DurationNanos = length.Nanoseconds()
	if b.TimeNanos > 0 {
		gained.TimeNanos = b.TimeNanos
	}
	if sampleType != "" {
		gained.DefaultSampleType = sampleType
	}
	return &gained, nil
}

func decode(data []byte) (*profile.Profile, error) {
	return profile.Decode(bytes.NewReader(data), maxProfileBytes)
}

func encode(p *profile.Profile) ([]byte, error) {
	var b bytes.Buffer
	if err := p.Encode(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// isEmpty reports whether a profile has no samples.
func isEmpty(data []byte) (bool, error) {
	p, err := decode(data)
	if err != nil {
		return false, err
	}
	return p.NumSamples() == 0, nil
}
