package funcname_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/funcname"
)

func TestIsInit(t *testing.T) {
	for name, want := range map[string]bool{
		"main.init":                       true,
		"example.com/app.init.0":          true,
		"example.com/my.app/x.init.func1": true,
		"main.main":                       false,
		"main.initialise":                 false,
		"main.(*T).init":                  false,
		"":                                false,
	} {
		if got := funcname.IsInit(name); got != want {
			t.Errorf("IsInit(%q) = %t", name, got)
		}
	}
}

func TestList(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{funcname.List(nil), ""},
		{funcname.List([]string{"a"}), "a"},
		{funcname.List([]string{"a", "b", "c"}), "a, b and c"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
