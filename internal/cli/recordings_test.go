package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/shelf"
)

func TestRecordings(t *testing.T) {
	cache := t.TempDir()
	dir := filepath.Join(cache, "recordings")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one.hone", "two.hone"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("cut short"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	hone := func(words ...string) (int, string) {
		var out bytes.Buffer
		env := Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }, CacheDir: cache, Dir: cache, Version: "test"}
		code := Main(t.Context(), append([]string{"recordings"}, words...), env)
		return code, out.String()
	}
	for _, c := range []struct {
		words string
		code  int
		want  string
	}{
		{"", 0, "two.hone"},
		{"label one baseline", 0, "baseline"},
		{"-json", 0, `"label": "baseline"`},
		{"label two baseline", 1, "already has the label \"baseline\""},
		{"label two", 2, "hone recordings label REC NAME"},
		{"lable one x", 2, `did you mean "label"`},
		{"remove baseline", 0, "removed one.hone"},
		{"remove baseline", 1, "no recording \"baseline\""},
		{"unlabel two", 0, "two.hone"},
		{"remove two", 0, "removed two.hone"},
		{"", 0, "No recordings in the cache"},
	} {
		code, out := hone(strings.Fields(c.words)...)
		if code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("hone recordings %s: exit %d, want %d with %q:\n%s", c.words, code, c.code, c.want, out)
		}
	}
}

func TestCacheLimits(t *testing.T) {
	for _, c := range []struct {
		size, age string
		want      shelf.Limits
		err       string
	}{
		{"", "", shelf.DefaultLimits, ""},
		{"500MiB", "720h", shelf.Limits{Bytes: 500 << 20, Age: 720 * time.Hour}, ""},
		{"0", "90d", shelf.Limits{Age: 90 * 24 * time.Hour}, ""},
		{"1048576", "0", shelf.Limits{Bytes: 1 << 20}, ""},
		{"2GB", "", shelf.Limits{}, "HONE_CACHE_SIZE=2GB: not a size"},
		{"-1", "", shelf.Limits{}, "not a size"},
		{"9999999999GiB", "", shelf.Limits{}, "not a size"},
		{"", "a month", shelf.Limits{}, "HONE_CACHE_AGE=a month: not an age"},
		{"", "-5h", shelf.Limits{}, "not an age"},
	} {
		got, err := cacheLimits(func(name string) string {
			return map[string]string{cacheSizeVariable: c.size, cacheAgeVariable: c.age}[name]
		})
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q, %q: %v, want %q", c.size, c.age, err, c.err)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%q, %q: %+v, %v", c.size, c.age, got, err)
		}
	}
}
