package capture

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// realFilter fails when it reads nothing.
const realFilter = `
-- go.mod --
module example.com/filter

go 1.23
-- main.go --
package main

import (
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	text, err := io.ReadAll(os.Stdin)
	if err != nil || len(text) == 0 {
		os.Exit(1)
	}
	n := 0
	for range 20_000 {
		n += strings.Count(string(text), "line")
	}
	fmt.Println(n / 20_000)
}
`

// TestFilterReadsItsInputInEachRun: a program that is run once per phase reads the same input each
// time.
func TestFilterReadsItsInputInEachRun(t *testing.T) {
	input := strings.Repeat("line\n", 100)
	dir := unpack(t, realFilter)
	file := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(file, []byte(input), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		file string
		from io.Reader
		want string
	}{
		"piped": {"", strings.NewReader(input), "500 bytes of hone's standard input"},
		"file":  {file, nil, file},
	} {
		t.Run(name, func(t *testing.T) {
			o := realOptions(t, dir)
			o.Stdin, o.StdinFrom = c.file, c.from
			if partial, err := Record(t.Context(), o); partial || err != nil {
				t.Fatal(partial, err)
			}
			r := openReal(t, o.Out)
			if b, err := r.Bytes("stdout.txt"); err != nil || string(b) != "100\n" {
				t.Errorf("it printed %q, %v", b, err)
			}
			if got := r.Manifest.Target.Stdin; got != c.want {
				t.Errorf("the manifest says %q, want %q", got, c.want)
			}
			runs := 0
			for _, p := range r.Manifest.Phases {
				runs += p.Runs
			}
			if runs < 2 {
				t.Errorf("%d runs", runs)
			}
		})
	}
}

func TestKeepInput(t *testing.T) {
	path := func() string { return filepath.Join(t.TempDir(), "stdin") }
	if n, err := keepInput(t.Context(), path(), strings.NewReader("12345"), 5); n != 5 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := keepInput(t.Context(), path(), strings.NewReader("123456"), 5); err == nil || !strings.Contains(err.Error(), "-stdin") {
		t.Errorf("more than the limit: %v", err)
	}
	r, w := io.Pipe() // nobody writes to it
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := keepInput(ctx, path(), r, 5); err == nil {
		t.Error("it did not end with its context")
	}
}
