package load_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-go/hone/load"
)

func TestParseTargetsFromTheCommandLine(t *testing.T) {
	for _, c := range []struct {
		arg  string
		want load.Target
	}{
		{"http://127.0.0.1:8080/v1/leftpad/?str=test&len=50&chr=*", load.Target{Method: "GET", URL: "http://127.0.0.1:8080/v1/leftpad/?str=test&len=50&chr=*"}},
		{"https://[::1]:8443", load.Target{Method: "GET", URL: "https://[::1]:8443"}},
		{"DELETE http://x/y", load.Target{Method: "DELETE", URL: "http://x/y"}},
		{"  PROPFIND   http://x/y ", load.Target{Method: "PROPFIND", URL: "http://x/y"}},
	} {
		c.want.Header = [][2]string{{"A", "b"}}
		got, err := load.ParseTargets(c.arg, [][2]string{{"A", "b"}})
		if err != nil {
			t.Errorf("%q: %v", c.arg, err)
			continue
		}
		if d := cmp.Diff([]load.Target{c.want}, got); d != "" {
			t.Errorf("%q (-want +got):\n%s", c.arg, d)
		}
	}
}

func TestParseTargetsFromAFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("item.json", `{"a":1}`)
	name := write("targets", `# two of one kind
GET http://x/1
GET http://x/2
Accept: text/plain
X-Empty:

POST http://x/items
Content-Type: application/json
# not a header
@item.json
PUT http://x/items/1
@ item.json
http://x/3
A: b
`)
	got, err := load.ParseTargets(name, [][2]string{{"Z", "z"}})
	if err != nil {
		t.Fatal(err)
	}
	z := [2]string{"Z", "z"}
	want := []load.Target{
		{Method: "GET", URL: "http://x/1", Header: [][2]string{z}},
		{Method: "GET", URL: "http://x/2", Header: [][2]string{{"Accept", "text/plain"}, {"X-Empty", ""}, z}},
		{Method: "POST", URL: "http://x/items", Header: [][2]string{{"Content-Type", "application/json"}, z}, Body: []byte(`{"a":1}`)},
		{Method: "PUT", URL: "http://x/items/1", Header: [][2]string{z}, Body: []byte(`{"a":1}`)},
		{Method: "GET", URL: "http://x/3", Header: [][2]string{{"A", "b"}, z}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("targets (-want +got):\n%s", d)
	}
}

func TestParseTargetsSaysWhatIsWrongAndWhere(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ name, text, want string }{
		{"empty", "# nothing\n\n", "no targets in it; want METHOD URL, as in GET http://"},
		{"no method", "GET http://x/\n\nx/y\n", `:3: "x/y" is not a target: want METHOD URL`},
		{"header first", "A: b\n", ":1: "},
		{"scheme", "GET http://x/\nGET ftp://x/\n", ":2: URL \"ftp://x/\": cannot send ftp"},
		{"no scheme", "\nGET x/y\n", `:2: URL "x/y" has no scheme: write http://x/y`},
		{"no host", "GET http:///y\n", ":1: URL \"http:///y\" names no host"},
		{"port", "GET http://x:99999/\n", ":1: URL"},
		{"header name", "GET http://x/\na b: c\n", `:2: "a b" is not a header name`},
		{"not a header", "GET http://x/\nA\n", `:2: "A" is not a header: want a header (Name: value), @FILE for the body, or the next METHOD URL`},
		{"body missing", "POST http://x/\n@gone.json\n", ":2: body: "},
		{"body unnamed", "POST http://x/\n@\n", ":2: body: no file is named"},
		{"two bodies", "POST http://x/\n@targets\n@targets\n", ":3: a second body"},
		{"chunked", "POST http://x/\nTransfer-Encoding: chunked\n", ":1: Transfer-Encoding cannot be set"},
		{"connect", "CONNECT http://x/\n", ":1: CONNECT opens a tunnel"},
		{"escape", "GET http://x/%zz\n", ":1: URL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			name := filepath.Join(dir, "targets")
			if err := os.WriteFile(name, []byte(c.text), 0o666); err != nil {
				t.Fatal(err)
			}
			_, err := load.ParseTargets(name, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
	for _, c := range []struct{ arg, want string }{
		{"", "name a URL"},
		{"127.0.0.1:8080/x", "neither a URL (http://…), nor 'METHOD URL', nor a file"},
		{"unix:///socket", "cannot send unix, only http and https"},
		{"GET ws://x/", "cannot send ws"},
		{dir, "targets file"},
	} {
		if _, err := load.ParseTargets(c.arg, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want one with %q", c.arg, err, c.want)
		}
	}
	if _, err := load.ParseTargets("http://x/", [][2]string{{"A\n", "b"}}); err == nil {
		t.Error("a header name with a line break was accepted")
	}
}

func FuzzParseTargets(f *testing.F) {
	f.Add("GET http://x/1\nA: b\n\n# c\nPOST http://x/2\n@/nowhere\n")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "@") { // these name files of this machine
			return
		}
		name := filepath.Join(t.TempDir(), "targets")
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		targets, err := load.ParseTargets(name, nil)
		if err == nil && len(targets) == 0 {
			t.Fatal("neither targets nor an error")
		}
	})
}
