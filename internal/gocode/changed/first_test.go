package changed

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

func TestFirstLike(t *testing.T) {
	var versions []string
	for i := range 20 {
		versions = append(versions, fmt.Sprintf("v1.%d.0", i))
	}
	for change := range 20 {
		asked := 0
		source := func(_ context.Context, version string) (Release, error) {
			asked++
			var minor int
			if _, err := fmt.Sscanf(version, "v1.%d.0", &minor); err != nil {
				return Release{}, err
			}
			body := "a()"
			if minor >= change {
				body = "b()"
			}
			return release(t, version, fmt.Sprintf("package m\nfunc F() { %s } // %d", body, minor)), nil
		}
		like, _ := source(t.Context(), "v1.20.0")
		got, err := FirstLike(t.Context(), versions, source, like, "example.com/m.F")
		if want := fmt.Sprintf("v1.%d.0", change); got != want || err != nil || asked > 6 {
			t.Errorf("changed in %s: %q, %v, after %d versions", want, got, err, asked)
		}
	}
}

func TestFirstLikeFails(t *testing.T) {
	like := release(t, "v1.2.0", "package m\nfunc F() {}")
	broken := errors.New("broken")
	source := func(context.Context, string) (Release, error) { return Release{}, broken }
	if _, err := FirstLike(t.Context(), []string{"v1.1.0"}, source, like, "example.com/m.F"); !errors.Is(err, broken) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := FirstLike(ctx, []string{"v1.1.0"}, source, like, "example.com/m.F"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if got, err := FirstLike(t.Context(), nil, source, like, "example.com/m.F"); got != "v1.2.0" || err != nil {
		t.Error(got, err)
	}
	if _, err := FirstLike(t.Context(), nil, source, like, "example.com/m.G"); err == nil {
		t.Error("no error for a function that does not exist")
	}
}
