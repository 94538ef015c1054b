package funcname_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/funcname"
)

func TestIsInit(t *testing.T) {
	for name, want := range map[string]bool{
		"main.init":                       true,
		"example.com/app.init.0":          true,
		"example.com/my.app/x.init.func1": false,
		"main.init.12.func1.1":            false,
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

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		name, pattern string
		want          bool
	}{
		{"fmt.Sprintf", "fmt.Sprintf", true},
		{"fmt.Sprintf", "fmt.Sprint", false},
		{"fmt.Sprintf", "fmt.Sprint*", true},
		{"fmt.Fprint", "fmt.Sprint*", false},
		{"database/sql.(*DB).QueryContext", "database/sql.(*DB).Query*", true},
		{"database/sql.(*Tx).QueryContext", "database/sql.(*DB).Query*", false},
		{"database/sql.(DB).Query", "database/sql.(*DB).Query", false},
		{"github.com/robfig/cron/v3.ParseStandard", "github.com/robfig/cron*.ParseStandard", true},
		{"github.com/robfig/cron.ParseStandard", "github.com/robfig/cron*.ParseStandard", true},
		{"github.com/robfig/cron/v3.ParseStandardly", "github.com/robfig/cron*.ParseStandard", false},
		{"github.com/golang-jwt/jwt/v5.ParseRSAPublicKeyFromPEM", "github.com/golang-jwt/jwt*.Parse*FromPEM", true},
		{"github.com/golang-jwt/jwt/v5.ParseRSAPublicKey", "github.com/golang-jwt/jwt*.Parse*FromPEM", false},
		{"(*github.com/santhosh-tekuri/jsonschema/v6.Compiler).Compile", "(*github.com/santhosh-tekuri/jsonschema*.Compiler).Compile", true},
		{"bytes.SplitN", "*.SplitN", true},
		{"ab", "ab*b", false},
		{"", "*", true},
	} {
		if got := funcname.Match(c.name, c.pattern); got != c.want {
			t.Errorf("Match(%q, %q) = %t", c.name, c.pattern, got)
		}
	}
}

func TestName(t *testing.T) {
	for function, want := range map[string]string{
		"net/http.(*Client).Do":                    "Do",
		"main.all[...]":                            "all",
		"main.all[go.shape.struct { main.n int }]": "all",
		"main.(*pool[go.shape.int]).get":           "get",
		"main.main.func1":                          "func1",
	} {
		if got := funcname.Name(function); got != want {
			t.Errorf("%s: %q, want %q", function, got, want)
		}
	}
}
