package rules_test

import (
	"testing"

	filestate "github.com/hone-go/hone/internal/diagnose/rules/file-state-per-record"
)

// TestOpenedPerRecordShapes: files that are opened to append one record, and directories that are
// created again.
func TestOpenedPerRecordShapes(t *testing.T) {
	const head = `import (
	"fmt"
	"log"
	"os"
	"path/filepath"
)

type store struct {
	dir  string
	file *os.File
}

const flags = os.O_APPEND | os.O_CREATE | os.O_WRONLY

var (
	_ = fmt.Sprint
	_ = log.New
	_ = filepath.Join
)`
	const says = "to append a record, and closes it again"
	checkShapesIn(t, filestate.Rule(), head, "os.OpenFile", 0, []shape{
		{"func (s *store) F(b []byte) error {\n\tf, err := os.OpenFile(s.dir, flags, 0o644) @\n\tif err != nil {\n\t\treturn err\n\t}\n\tdefer f.Close()\n\t_, err = f.Write(b)\n\treturn err\n}", says},
		{"func F(path, text string) {\n\tf, _ := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o644) @\n\tfmt.Fprintln(f, text)\n\tf.Close()\n}", says},
		{"func F(path string, m map[int]string) {\n\tvar f *os.File\n\tvar err error\n\tf, err = os.OpenFile(filepath.Join(path, m[1]), flags, 0o644) @\n\tif err == nil {\n\t\tdefer f.Close()\n\t\tf.WriteString(m[2])\n\t}\n}", says},
		{"func F(path, text string) {\n\tf, _ := os.OpenFile(path, flags, 0o644) @\n\tdefer func() { _ = f.Close() }()\n\tlog.New(f, \"\", 0).Println(text)\n}", says},
		{"func F(path string, b []byte) {\n\tf, _ := open_N(path) //: d_N\n\tdefer f.Close()\n\tf.Write(b)\n}\n\nfunc open_N(path string) (*os.File, error) {\n\treturn os.OpenFile(path, flags, 0o644) @ < d_N\n}", says},
		{"func F(paths []string, b []byte) {\n\tfor _, path := range paths {\n\t\tf, _ := os.OpenFile(path, flags, 0o644) @\n\t\tf.Write(b)\n\t\tf.Close()\n\t}\n}", says},
		{"func (s *store) F() {\n\ts.file, _ = os.OpenFile(s.dir, flags, 0o644) @\n}", ""},
		{"func (s *store) F() (*os.File, error) {\n\treturn os.OpenFile(s.dir, flags, 0o644) @\n}", ""},
		{"func F(path string, lines []string) {\n\tf, _ := os.OpenFile(path, flags, 0o644) @\n\tdefer f.Close()\n\tfor _, line := range lines {\n\t\tf.WriteString(line)\n\t}\n}", ""},
		{"func F(path string, b []byte) {\n\tf, _ := os.OpenFile(path, flags, 0o644) @\n\tdefer f.Close()\n\tf.Write(b)\n\tf.Sync()\n}", ""},
		{"func F(path string, lines []string) {\n\tf, _ := os.OpenFile(path, flags, 0o644) @\n\tdefer f.Close()\n\tall_N(f, lines)\n}\n\nfunc all_N(f *os.File, lines []string) {\n\tfor _, l := range lines {\n\t\tf.WriteString(l)\n\t}\n}", ""},
		{"func F(path string, b []byte) {\n\tf, _ := os.OpenFile(path, os.O_RDONLY, 0) @\n\tdefer f.Close()\n\tf.Read(b)\n}", ""},
		{"func F(path string, b []byte) *os.File {\n\tf, err := os.OpenFile(path, flags, 0o644) @\n\tif err != nil {\n\t\treturn nil\n\t}\n\tif _, err := f.Write(b); err != nil {\n\t\tf.Close()\n\t}\n\treturn f\n}", ""},
		{"func (s *store) F(b []byte) {\n\tif s.file == nil {\n\t\tf, _ := os.OpenFile(s.dir, flags, 0o644) @\n\t\tf.Write(b)\n\t\tf.Close()\n\t}\n}", ""},
	}, counted)
	checkShapesIn(t, filestate.Rule(), head, "os.MkdirAll", 0, []shape{
		{"func (s *store) F(b []byte) error {\n\tif err := os.MkdirAll(s.dir, 0o755); err != nil { @\n\t\treturn err\n\t}\n\treturn os.WriteFile(filepath.Join(s.dir, \"a\"), b, 0o644)\n}", "calls os.MkdirAll(s.dir) each time"},
		{"func F(path string, b []byte) {\n\tos.MkdirAll(filepath.Dir(path), 0o755) @\n\tos.WriteFile(path, b, 0o644)\n}", "the directory is there nearly always"},
		{"func (s *store) F() {\n\tif s.file == nil {\n\t\tos.MkdirAll(s.dir, 0o755) @\n\t}\n}", ""},
	}, counted)
	checkShapesIn(t, filestate.Rule(), head, "syscall.Mkdir os.Mkdir os.MkdirAll", 0, []shape{
		{"func F(path string) error {\n\treturn os.MkdirAll(path, 0o755) @\n}", ""},
	}, counted)
}
