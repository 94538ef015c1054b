package exectrace_test

import (
	"encoding/binary"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/hone-go/hone/exectrace/internal/wire"
)

// TestGoCorpus reads the traces that Go's own tests keep as text, if the toolchain has them, and
// compares the result with golang.org/x/exp/trace.
func TestGoCorpus(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("no go command:", err)
	}
	files, _ := filepath.Glob(filepath.Join(strings.TrimSpace(string(root)), "src/internal/trace/testdata/tests/*.test"))
	if len(files) == 0 {
		t.Skip("the toolchain comes without its tests")
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".test"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range a.Files {
				if f.Name != "trace" {
					continue
				}
				data, err := rawTrace(string(f.Data))
				if err != nil {
					t.Fatal(err)
				}
				compare(t, data)
			}
		})
	}
}

// rawTrace writes a trace from the text of internal/trace/raw: one line per event, as it is
// encoded, with the data of strings and the frames of stacks on the lines that follow.
func rawTrace(text string) (out []byte, err error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	version, err := strconv.Atoi(strings.TrimPrefix(lines[0], "Trace Go1."))
	if err != nil {
		return nil, err
	}
	out = wire.Header(version)
	for _, line := range lines[1:] {
		words := strings.Fields(line)
		if data, ok := strings.CutPrefix(strings.TrimSpace(line), "data="); ok {
			s, err := strconv.Unquote(data)
			if err != nil {
				return nil, err
			}
			out = append(binary.AppendUvarint(out, uint64(len(s))), s...)
			continue
		}
		if !strings.HasPrefix(line, "\t") {
			t := slices.IndexFunc(wire.Specs[:], func(s wire.Spec) bool { return s.Name == words[0] })
			if t < 0 {
				return nil, fmt.Errorf("no event %s", words[0])
			}
			out = append(out, byte(t))
			words = words[1:]
		}
		for _, w := range words {
			_, v, _ := strings.Cut(w, "=")
			n, err := strconv.ParseUint(v, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", line, err)
			}
			out = binary.AppendUvarint(out, n)
		}
	}
	return out, nil
}
