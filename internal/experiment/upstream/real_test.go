//go:build live

package upstream

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/altmod"
	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/session"
)

// pooled replaces the function of chi v3.3.4 that creates a flate.Writer for each response.
const pooled = `var deflaters sync.Pool

type deflater struct{ *flate.Writer }

func (d deflater) Close() error {
	err := d.Writer.Close()
	deflaters.Put(d.Writer)
	return err
}

func encoderDeflate(w http.ResponseWriter, level int) io.Writer {
	if dw, ok := deflaters.Get().(*flate.Writer); ok {
		dw.Reset(w)
		return deflater{dw}
	}
`

// TestForkOfRealModule: a module without a go.mod file, with a problem for which hone has no
// rewrite, is copied. A change of the copy is shown, tested by the module's own tests, written into
// the issue, and built into the program, whose files are not changed.
func TestForkOfRealModule(t *testing.T) {
	source, err := filepath.Abs(filepath.Join("..", "..", "..", "examples", "compress", "before"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOWORK", "off")
	const function = "github.com/go-chi/chi/middleware.encoderDeflate"
	f := &diagnose.Finding{Rank: 1, Rule: "heavy-ctor-per-call", Title: "Writer created for one use", Function: function, File: "middleware/compress.go", Line: 268,
		Module: "github.com/go-chi/chi", Version: "v3.3.4+incompatible", Fix: "Keep them in a sync.Pool.",
		Sites: []diagnose.SiteRef{{Place: diagnose.Place{Function: function, File: "middleware/compress.go", Line: 268}, Share: 0.5}}}
	spec := Spec{Options: capture.Options{Dir: dir, Package: ".", Arg: "."}, Dir: t.TempDir()}
	cfg := session.Config{CacheDir: t.TempDir()}
	r, err := Run(t.Context(), cfg, f, spec)
	if err != nil || !strings.Contains(r.Fork.Left, "change the copy") {
		t.Fatalf("%+v, %v", r, err)
	}
	file := filepath.Join(r.Fork.Dir, "middleware", "compress.go")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const signature = "func encoderDeflate(w http.ResponseWriter, level int) io.Writer {\n"
	changed := strings.Replace(string(text), signature, pooled, 1)
	changed = strings.Replace(changed, "\t\"strings\"\n", "\t\"strings\"\n\t\"sync\"\n", 1)
	changed = strings.Replace(changed, "\treturn dw\n", "\treturn deflater{dw}\n", 1)
	if !strings.Contains(changed, "deflaters") || !strings.Contains(changed, "\"sync\"") {
		t.Fatalf("not the source that the test knows:\n%s", text)
	}
	write(t, file, changed)
	if r, err = Run(t.Context(), cfg, f, spec); err != nil || r.Fork.Left != "" || r.Fork.Tests != "pass" || !strings.Contains(r.Fork.Diff, "+var deflaters sync.Pool") {
		t.Fatalf("%+v, %v", r.Fork, err)
	}
	if text, err = os.ReadFile(r.Issue); err != nil || !strings.Contains(string(text), "+var deflaters sync.Pool") || strings.Contains(string(text), "do the same") {
		t.Errorf("the issue: %s, %v", text, err)
	}
	tree, err := altmod.Open(t.Context(), "go", dir, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b, err := tree.Replace(f.Module, r.Fork.Dir)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"build", "-o", filepath.Join(t.TempDir(), "app")}, b.Flags...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("build with the copy: %v\n%s", err, out)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		now, err := os.ReadFile(filepath.Join(dir, name))
		was, err2 := os.ReadFile(filepath.Join(source, name))
		if err != nil || err2 != nil || string(now) != string(was) {
			t.Errorf("%s has changed: %v, %v", name, err, err2)
		}
	}
}
