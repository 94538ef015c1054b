package capture

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-go/hone/internal/recording"
)

func TestParseInits(t *testing.T) {
	t.Parallel()
	got := parseInits([]byte(`init internal/bytealg @0.008 ms, 0 ms clock, 0 bytes, 0 allocs
init example.com/app/words @0.85 ms, 1.5 ms clock, 4096 bytes, 3 allocs
init of the program's own @ 1 ms
init example.com/app/patterns @2.4 ms, 21 ms clock, 1048576 bytes, 9000 allocs
init example.com/app/broken @2.4 ms, x ms clock, 1048576 bytes, 9000 allocs
ready
`))
	want := []recording.Init{
		{Package: "example.com/app/patterns", Seconds: 0.021, AllocBytes: 1048576, AllocObjects: 9000},
		{Package: "example.com/app/words", Seconds: 0.0015, AllocBytes: 4096, AllocObjects: 3},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for _, c := range []struct {
		env  []string
		want string
	}{
		{nil, "inittrace=1"},
		{[]string{"GODEBUG=a=1", "GODEBUG=gctrace=1", "X=y"}, "gctrace=1,inittrace=1"},
	} {
		if got := godebug(c.env); got != c.want {
			t.Errorf("%q: %s", c.env, got)
		}
	}
}
