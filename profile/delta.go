package profile

import (
	"fmt"
	"strings"
)

// Delta returns what a program did between two takings of a profile that counts
// since the program's start: its values minus those of before. Memory in use
// (inuse_objects, inuse_space) is a state and no sum: those values stay as they
// are in after, for a difference of states says neither how much there is nor
// what was allocated (go.dev/issue/57765, go.dev/issue/67942). The header is
// after's, but for the time: it spans from before to after when both say when.
func Delta(after, before *Profile) (*Profile, error) {
	base := *before
	base.values = make([][]int64, len(before.values))
	for i, column := range before.values {
		if i < len(before.SampleTypes) && strings.HasPrefix(before.SampleTypes[i].Type, "inuse_") {
			column = make([]int64, len(column))
		}
		base.values[i] = column
	}
	d, err := Subtract(after, &base)
	if err != nil {
		return nil, fmt.Errorf("delta: %w", err)
	}
	if before.TimeNanos > 0 && after.TimeNanos > before.TimeNanos {
		d.TimeNanos = before.TimeNanos
		d.DurationNanos = after.TimeNanos - before.TimeNanos
	}
	return d, nil
}
