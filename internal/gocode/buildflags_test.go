package gocode

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestBuildFlags(t *testing.T) {
	dir := t.TempDir()
	pgo := filepath.Join(dir, "default.pgo")
	write(t, pgo, "")
	for _, c := range []struct {
		name, goflags string
		user          []string
		info          string
		want, env     string
	}{
		{name: "nothing"},
		{name: "what compiles stays, the rest goes",
			user: []string{"-tags", "a b", "--race", "-ldflags=-X a=b", "-o", "x", "-v", "-a", "-gcflags=-l", "-C", "/d"},
			want: "-tags=a b -race"},
		{name: "never -mod=mod", user: []string{"-mod=mod"}, want: "-mod=readonly"},
		{name: "never -mod=mod of GOFLAGS", goflags: "-mod=mod", want: "-mod=readonly"},
		{name: "vendor", user: []string{"-mod", "vendor"}, want: "-mod=vendor"},
		{name: "from the binary", info: "build\t-tags=x,y\nbuild\t-trimpath=true\nbuild\t-race=true\nbuild\t-buildmode=pie\nbuild\tGOAMD64=v3\nbuild\tCGO_ENABLED=0\nbuild\tCGO_CFLAGS=-O9\nbuild\tvcs.time=x\n",
			want: "-tags=x,y -trimpath=true -race=true -buildmode=pie", env: "GOAMD64=v3 CGO_ENABLED=0"},
		{name: "the user before the binary", user: []string{"-tags=u"}, info: "build\t-tags=x\n", want: "-tags=u"},
		{name: "GOFLAGS before the binary", goflags: "-tags=u", info: "build\t-tags=x\n", want: ""},
		{name: "profile by its base name", info: "build\t-pgo=default.pgo\n", want: "-pgo=" + pgo},
		{name: "profile that is gone", info: "build\t-pgo=/gone/x.pgo\n", want: ""},
		{name: "another platform", info: "build\tCGO_ENABLED=1\nbuild\tGOOS=plan9\nbuild\tGOARCH=386\n",
			env: "CGO_ENABLED=1 GOOS=plan9 GOARCH=386 CGO_ENABLED=0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("GOFLAGS", c.goflags)
			info := c.info
			if info != "" {
				info = "path\tx\n" + info
			}
			x := open(t, Config{Dir: dir, BuildFlags: c.user, BuildInfo: info})
			if got := strings.Join(x.buildFlags(), " "); got != c.want {
				t.Errorf("flags %q, want %q", got, c.want)
			}
			if got := strings.Join(x.buildEnv(), " "); got != c.env {
				t.Errorf("environment %q, want %q", got, c.env)
			}
		})
	}
}

func TestUserGcflags(t *testing.T) {
	p := &listedPackage{ImportPath: "example.com/app/in", Dir: filepath.FromSlash("/src/app/in")}
	main := &listedPackage{ImportPath: "example.com/app", Dir: filepath.FromSlash("/src/app")}
	for _, c := range []struct {
		name, goflags   string
		user            []string
		info            string
		wantIn, wantApp string
	}{
		{name: "the target's", user: []string{"-gcflags=-l -N"}, wantApp: "-l -N"},
		{name: "the last that matches wins", user: []string{"-gcflags=all=-l", "-gcflags", "example.com/app/in=-N"}, wantIn: "-N", wantApp: "-l"},
		{name: "an empty one clears", user: []string{"-gcflags=all=-l", "-gcflags="}, wantIn: "-l"},
		{name: "wildcard", user: []string{"-gcflags=example.com/app/...=-l"}, wantIn: "-l", wantApp: "-l"},
		{name: "directories", user: []string{"-gcflags=./in=-l"}, wantIn: "-l"},
		{name: "directories below", user: []string{"-gcflags=./...=-l"}, wantIn: "-l", wantApp: "-l"},
		{name: "quotes", user: []string{`-gcflags=all='-d=a b' -l`}, wantIn: "'-d=a b' -l", wantApp: "'-d=a b' -l"},
		{name: "std", user: []string{"-gcflags=std=-l"}},
		{name: "GOFLAGS", goflags: "-gcflags=all=-l", wantIn: "-l", wantApp: "-l"},
		{name: "the command line silences GOFLAGS", goflags: "-gcflags=all=-l", user: []string{"-gcflags=-N"}, wantApp: "-N"},
		{name: "from the binary, what cannot write files", info: "path\tx\nbuild\t-gcflags=\"all=-l -cpuprofile=/x\"\n", wantIn: "-l", wantApp: "-l"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("GOFLAGS", c.goflags)
			x := open(t, Config{ImportPath: "example.com/app", BuildFlags: c.user, BuildInfo: c.info})
			x.cfg.Dir = "" // the go command runs elsewhere
			x.goEnv()
			x.cfg.Dir = filepath.FromSlash("/src/app")
			user := x.userGcflags()
			if got := joinQuoted(x.gcflagsFor(user, p)); got != c.wantIn {
				t.Errorf("in gets %q, want %q", got, c.wantIn)
			}
			if got := joinQuoted(x.gcflagsFor(user, main)); got != c.wantApp {
				t.Errorf("app gets %q, want %q", got, c.wantApp)
			}
		})
	}
}

func TestMatchPattern(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"a", "a", true}, {"a", "a/b", false}, {"a/...", "a", true}, {"a/...", "a/b/c", true}, {"a/...", "ab", false},
		{"a...", "ab", true}, {".../c", "a/b/c", true}, {"a.b", "axb", false}, {"...", "x/y", true},
	} {
		if got := matchPattern(c.pattern, c.name); got != c.want {
			t.Errorf("matchPattern(%q, %q) = %v", c.pattern, c.name, got)
		}
	}
}

func TestQuotedRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		elems := rapid.SliceOf(rapid.OneOf(rapid.StringMatching(`[a-z=\\/ -]{0,9}`), rapid.StringMatching(`[a-z" ]{0,5}`), rapid.StringMatching(`[a-z' ]{0,5}`))).Draw(t, "elems")
		if got := splitQuoted(joinQuoted(elems)); !slices.Equal(got, elems) && len(elems) > 0 {
			t.Fatalf("%q came back as %q", elems, got)
		}
	})
}
