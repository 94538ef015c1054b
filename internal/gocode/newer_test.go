package gocode

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// proxy is a module proxy of files, with lists of versions.
func proxy(t *testing.T, lists map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for path, versions := range lists {
		write(t, filepath.Join(dir, filepath.FromSlash(path), "@v", "list"), strings.ReplaceAll(versions, " ", "\n")+"\n")
		for _, v := range strings.Fields(versions) {
			write(t, filepath.Join(dir, filepath.FromSlash(path), "@v", v+".info"), fmt.Sprintf(`{"Version":%q,"Time":"2020-01-01T00:00:00Z"}`, v))
			write(t, filepath.Join(dir, filepath.FromSlash(path), "@v", v+".mod"), "module "+path+"\n")
		}
	}
	return dir
}

func TestNewer(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("file URLs are written otherwise")
	}
	dir := proxy(t, map[string]string{
		"example.com/router":    "v1.0.0 v1.5.5 v3.3.3+incompatible v3.3.4+incompatible v4.0.1+incompatible v4.0.2+incompatible v4.1.2+incompatible v4.2.0-rc1+incompatible",
		"example.com/router/v5": "v5.0.0 v5.2.3",
		"example.com/alone":     "v1.2.3",
		"example.com/many":      "v1.1.0 v1.2.0 v1.3.0 v1.4.0 v1.5.0 v1.6.0",
	})
	t.Setenv("GOPROXY", "file://"+dir)
	t.Setenv("GONOSUMDB", "example.com")
	t.Setenv("GOFLAGS", "-modcacherw")
	t.Setenv("GOMODCACHE", t.TempDir())
	cache := t.TempDir()
	x, err := Open(t.Context(), Config{CacheDir: cache})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(path, version string) string {
		var words []string
		for _, c := range x.Newer(t.Context(), path, version) {
			words = append(words, c.String())
		}
		return strings.Join(words, ", ")
	}
	for _, c := range []struct{ path, version, want string }{
		{"example.com/router", "v3.3.4+incompatible", "example.com/router v4.0.2+incompatible, example.com/router v4.1.2+incompatible, example.com/router/v5 v5.2.3"},
		{"example.com/router/v5", "v5.0.0", "example.com/router/v5 v5.2.3"},
		{"example.com/alone", "v1.2.3", ""},
		{"example.com/many", "v1.1.0", "example.com/many v1.3.0, example.com/many v1.4.0, example.com/many v1.5.0, example.com/many v1.6.0"},
		{"example.com/unknown", "v1.0.0", ""},
		{"example.com/alone", "", ""},
		{"", "v1.0.0", ""},
		{"--help", "v1.0.0", ""},
	} {
		if got := ask(c.path, c.version); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.path, c.version, got, c.want)
		}
	}

	// The answers are kept: the proxy is not needed again.
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOPROXY", "off")
	if got := ask("example.com/many", "v1.5.0"); got != "example.com/many v1.6.0" {
		t.Errorf("from the cache: %q", got)
	}
	// Without answers, the module cache is used.
	mods := t.TempDir()
	t.Setenv("GOMODCACHE", mods)
	write(t, filepath.Join(mods, "cache", "download", "example.com", "!upper", "@v", "v1.4.0.info"), "{}")
	write(t, filepath.Join(mods, "cache", "download", "example.com", "!upper", "@v", "v1.5.0.mod"), "")
	if x, err = Open(t.Context(), Config{}); err != nil {
		t.Fatal(err)
	}
	if got := ask("example.com/Upper", "v1.3.0"); got != "example.com/Upper v1.4.0" {
		t.Errorf("from the module cache: %q", got)
	}
}

func TestLater(t *testing.T) {
	versions := []string{"v2.0.0", "v1.9.1", "v1.9.0", "v1.10.0-beta", "v1.10.0"}
	if got := later(versions, "v1.9.0"); !slices.Equal(got, []string{"v1.9.1", "v1.10.0", "v2.0.0"}) {
		t.Error(got)
	}
	if got := later(nil, ""); len(got) > 0 {
		t.Error(got)
	}
}
