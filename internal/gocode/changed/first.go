package changed

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// FirstLike returns the oldest of some versions, which are in order, in which a function has the
// same text as in a release, which is the newest of them or one after them. It searches by
// bisection, so it asks source for few versions, and takes it that a text which changed does not
// come back.
func FirstLike(ctx context.Context, versions []string, source func(ctx context.Context, version string) (Release, error), like Release, name string) (string, error) {
	f, err := newTree(like).find(name)
	if err != nil {
		return "", fmt.Errorf("search for %s in versions of %s: %w", name, like.Module, err)
	}
	want := f.tokens()
	first := like.Version
	low, high := 0, len(versions) // the version sought is in [low, high), or first
	for low < high {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		middle := (low + high) / 2
		r, err := source(ctx, versions[middle])
		if err != nil {
			return "", fmt.Errorf("search for %s in %s %s: %w", name, like.Module, versions[middle], err)
		}
		if got := newTree(r).counterpart(f); got != nil && slices.Equal(got.tokens(), want) {
			first, high = versions[middle], middle
		} else {
			low = middle + 1
		}
	}
	if first == "" {
		return "", errors.New("the release has no version")
	}
	return first, nil
}
