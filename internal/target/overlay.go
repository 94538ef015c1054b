package target

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed probe/*.go
var probeFiles embed.FS

// placement describes where the probe goes.
type placement struct {
	dir, pkg, file string
	goos           string
	counters       bool   // the program is built with coverage instrumentation
	inputs         string // source that enables counting of inputs; "" without
}

// source returns the probe as one file of its package, so that its frames have one file name.
func (at placement) source() ([]byte, error) {
	parts := []string{"probe.go", "commands.go", "collect.go", "metrics.go", "os_unix.go", "nocounters.go", "noinputs.go"}
	if at.goos == "windows" {
		parts[4] = "os_windows.go"
	}
	if at.counters {
		parts[5] = "counters.go"
	}
	if at.inputs != "" {
		parts[6] = "inputs.go"
		parts = append(parts, "results.go", "again.go", "values.go")
	}
	var imports []string
	var body bytes.Buffer
	for _, name := range parts {
		src, err := probeFiles.ReadFile("probe/" + name)
		if err != nil {
			return nil, err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ImportsOnly)
		if err != nil {
			return nil, fmt.Errorf("probe: %w", err)
		}
		end := f.Name.End()
		for _, d := range f.Decls {
			end = d.End()
		}
		for _, im := range f.Imports {
			imports = append(imports, importLine(im))
		}
		body.Write(src[end-f.FileStart:])
	}
	body.WriteString(at.inputs)
	slices.Sort(imports)
	head := "// The probe that hone adds to this package while it measures it.\n\npackage " + at.pkg +
		"\n\nimport (\n" + strings.Join(slices.Compact(imports), "\n") + "\n)\n"
	return format.Source(append([]byte(head), body.Bytes()...))
}

func importLine(im *ast.ImportSpec) string { return im.Name.Name + " " + im.Path.Value }

// overlayFile is the format of the go command's -overlay.
type overlayFile struct {
	Replace map[string]string
}

// writeOverlay writes the probe and the overlay that adds it to its package, and returns the
// overlay's path. The entries of the user's own overlay are kept; their relative paths are relative
// to the user's directory.
func writeOverlay(work string, at placement, userOverlay, userDir string) (string, error) {
	src, err := at.source()
	if err != nil {
		return "", err
	}
	probe := filepath.Join(work, "probe.go")
	if err := os.WriteFile(probe, src, 0o600); err != nil {
		return "", fmt.Errorf("write the probe: %w", err)
	}
	return mergeOverlay(work, map[string]string{filepath.Join(at.dir, at.file): probe}, userOverlay, userDir)
}

// mergeOverlay writes an overlay that joins ours and the user's, and returns its path.
func mergeOverlay(work string, ours map[string]string, userOverlay, userDir string) (string, error) {
	o := overlayFile{Replace: map[string]string{}}
	if userOverlay != "" {
		if err := readOverlay(userOverlay, userDir, o.Replace); err != nil {
			return "", err
		}
	}
	maps.Copy(o.Replace, ours)
	data, err := json.Marshal(o)
	if err != nil {
		return "", err
	}
	path := filepath.Join(work, "overlay.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return "", fmt.Errorf("write the overlay: %w", err)
	}
	return path, nil
}

// readOverlay adds the entries of a user's overlay to replace.
func readOverlay(path, dir string, replace map[string]string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("build flag -overlay: %w", err)
	}
	var o overlayFile
	if err := json.Unmarshal(data, &o); err != nil {
		return fmt.Errorf("build flag -overlay: %s: %w", path, err)
	}
	for from, to := range o.Replace {
		if to != "" && !filepath.IsAbs(to) {
			to = filepath.Join(dir, to)
		}
		if !filepath.IsAbs(from) {
			from = filepath.Join(dir, from)
		}
		replace[from] = to
	}
	return nil
}
