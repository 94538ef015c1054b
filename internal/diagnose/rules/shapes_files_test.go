package rules_test

import (
	"testing"

	templateparse "github.com/hone-go/hone/internal/diagnose/rules/template-parse-per-call"
	unchangedinput "github.com/hone-go/hone/internal/diagnose/rules/unchanged-input"
)

// TestUnchangedFileShapes: files and directories that are read again under the same name.
func TestUnchangedFileShapes(t *testing.T) {
	const head = `import (
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
)

type store struct{ dir, cert, key string }

var _ *os.File

type config struct{ N int }

var (
	_ = json.Valid
	_ = filepath.Join
	_ = io.Copy
	_ tls.Certificate
	_ http.Handler
)`
	checkShapesIn(t, unchangedinput.Rule(), head, "os.ReadFile", 0, []shape{
		{"func (s *store) F() (*config, error) {\n\tb, err := os.ReadFile(filepath.Join(s.dir, \"config.json\")) @\n\tif err != nil {\n\t\treturn nil, err\n\t}\n\tvar c config\n\treturn &c, json.Unmarshal(b, &c)\n}", "reads the same file again"},
		{"func F(w http.ResponseWriter, r *http.Request) {\n\tb, _ := os.ReadFile(\"config.json\") @\n\tvar c config\n\tjson.Unmarshal(b, &c)\n\tw.Write(b)\n}", "reads the same file again"},
		{"func F(w http.ResponseWriter, r *http.Request) { load_N() }\n\nfunc load_N() config { return read_N(\"config.json\") } //: d_N\n\nfunc read_N(name string) (v config) {\n\tb, _ := os.ReadFile(name) @ < d_N\n\tjson.Unmarshal(b, &v)\n\treturn v\n}", "It reads a file each time"},
		{"type source_N interface{ text() ([]byte, error) }\n\nfunc F(s source_N) []byte {\n\tb, _ := s.text() //: c_N\n\treturn b\n}\n\nfunc (s *store) text() ([]byte, error) {\n\treturn os.ReadFile(s.dir) @ < c_N\n}", "reads the same file again"},
		{"func F(s *store, r *http.Request) []byte {\n\tb, _ := os.ReadFile(filepath.Join(s.dir, r.URL.Path)) @\n\treturn b\n}", ""},
		{"func F(s *store, r *http.Request) (n int) {\n\tb, _ := os.ReadFile(s.dir) @\n\tfor _, c := range b {\n\t\tif c == r.URL.Path[0] {\n\t\t\tn++\n\t\t}\n\t}\n\treturn n\n}", ""},
		{"func F() []byte {\n\tb, _ := os.ReadFile(\"/proc/self/stat\") @\n\treturn b\n}", ""},
		{"var kept_N map[string][]byte\n\nfunc F() []byte {\n\tb, ok := kept_N[\"a\"]\n\tif !ok {\n\t\tb, _ = os.ReadFile(\"a\") @\n\t\tkept_N[\"a\"] = b\n\t}\n\treturn b\n}", ""},
	}, counted)
	checkShapesIn(t, unchangedinput.Rule(), head, "os.ReadFile", 0, []shape{
		{"func F(s *store) []byte {\n\tb, _ := os.ReadFile(s.dir) @\n\tos.WriteFile(s.dir, append(b, 1), 0o600)\n\treturn b\n}", ""},
	}, counted)
	checkShapesIn(t, unchangedinput.Rule(), head, "os.Open", 0, []shape{
		{"func (s *store) F() (c config, err error) {\n\tf, err := os.Open(s.dir) @\n\tif err != nil {\n\t\treturn c, err\n\t}\n\tdefer f.Close()\n\treturn c, json.NewDecoder(f).Decode(&c)\n}", "reads the same file again"},
		{"func (s *store) F(w http.ResponseWriter) error {\n\tf, err := os.Open(s.dir) @\n\tif err != nil {\n\t\treturn err\n\t}\n\tdefer f.Close()\n\t_, err = io.Copy(w, f)\n\treturn err\n}", ""},
	}, counted)
	checkShapesIn(t, unchangedinput.Rule(), head, "os.ReadDir", 0, []shape{
		{"func (s *store) F() (names []string) {\n\tentries, _ := os.ReadDir(s.dir) @\n\tfor _, e := range entries {\n\t\tnames = append(names, e.Name())\n\t}\n\treturn names\n}", "lists the same directory again"},
	}, counted)
	checkShapesIn(t, unchangedinput.Rule(), head, "crypto/tls.LoadX509KeyPair", 0, []shape{
		{"func (s *store) F() (*tls.Config, error) {\n\tc, err := tls.LoadX509KeyPair(s.cert, s.key) @\n\treturn &tls.Config{Certificates: []tls.Certificate{c}}, err\n}", "reads the same file again"},
	}, counted)
}

// TestTemplateFilesShapes: templates whose files are parsed again, through helpers.
func TestTemplateFilesShapes(t *testing.T) {
	const head = `import (
	"html/template"
	"io"
	"io/fs"
)

type view struct {
	from fs.FS
	kept map[string]*template.Template
}

var _ io.Writer`
	checkShapesIn(t, templateparse.Rule(), head, "html/template.(*Template).ParseFS", 0, []shape{
		{"func (v *view) F(page string) (*template.Template, error) {\n\treturn template.New(\"x\").ParseFS(v.from, \"layout.tmpl\", page+\".tmpl\") @\n}", "parses template files"},
		{"func (v *view) F(page string) (*template.Template, error) {\n\tt, ok := v.kept[page]\n\tif !ok {\n\t\treturn template.New(\"x\").ParseFS(v.from, \"layout.tmpl\", page+\".tmpl\") @\n\t}\n\treturn t, nil\n}", ""},
	}, counted)
	checkShapesIn(t, templateparse.Rule(), head, "html/template.(*Template).escape html/template.(*Template).Execute", 0, []shape{
		{"func (v *view) F(w io.Writer, page string) error {\n\tt, err := v.find_N(page)\n\tif err != nil {\n\t\treturn err\n\t}\n\treturn t.Execute(w, nil) @\n}\n\nfunc (v *view) find_N(page string) (*template.Template, error) {\n\treturn template.ParseFS(v.from, page)\n}", "parses on every call"},
		{"func (v *view) F(w io.Writer, page string) error {\n\tt, err := v.find_N(page)\n\tif err != nil {\n\t\treturn err\n\t}\n\treturn t.Execute(w, nil) @\n}\n\nfunc (v *view) find_N(page string) (*template.Template, error) {\n\tif t := v.kept[page]; t != nil {\n\t\treturn t, nil\n\t}\n\treturn template.ParseFS(v.from, page)\n}", ""},
	}, counted)
}
