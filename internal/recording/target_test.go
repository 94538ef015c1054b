package recording

import "testing"

func TestTargetName(t *testing.T) {
	for _, c := range []struct {
		target Target
		want   string
	}{
		{Target{Arg: ".", ImportPath: "example.com/shop/cmd/server"}, "example.com/shop/cmd/server"},
		{Target{Arg: "./", ImportPath: "example.com/shop"}, "example.com/shop"},
		{Target{Arg: "../..", ImportPath: "example.com/shop"}, "example.com/shop"},
		{Target{Arg: "."}, "."},
		{Target{Arg: "./cmd/server", ImportPath: "example.com/shop/cmd/server"}, "./cmd/server"},
		{Target{Arg: "http://127.0.0.1:6060"}, "http://127.0.0.1:6060"},
		{Target{}, ""},
	} {
		if got := c.target.Name(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.target, got, c.want)
		}
	}
}
