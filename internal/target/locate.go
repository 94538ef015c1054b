package target

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/mod/module"
)

// locate determines where the go command has to run and the package's name there. An existing
// directory counts as one, also without a leading ./.
func locate(userDir, pkg string) (dir string, args []string, err error) {
	if strings.Contains(pkg, "...") {
		return "", nil, fmt.Errorf("%s is a pattern; name one package", pkg)
	}
	if files := strings.Fields(pkg); strings.HasSuffix(pkg, ".go") {
		return locateFiles(userDir, files)
	}
	full := pkg
	if !filepath.IsAbs(full) {
		full = filepath.Join(userDir, pkg)
	}
	st, err := os.Stat(full)
	switch {
	case err == nil && st.IsDir():
		full, err = filepath.EvalSymlinks(full)
		return full, []string{"."}, err
	case err == nil:
		return "", nil, fmt.Errorf("%s is neither a Go package nor a Go file", pkg)
	case filepath.IsAbs(pkg) || pkg == "." || pkg == ".." || strings.HasPrefix(filepath.ToSlash(pkg), "./") || strings.HasPrefix(filepath.ToSlash(pkg), "../"):
		return "", nil, fmt.Errorf("directory %s does not exist", pkg)
	}
	return userDir, []string{pkg}, nil
}

// locateFiles handles a package given as Go files.
func locateFiles(userDir string, files []string) (dir string, args []string, err error) {
	for _, f := range files {
		if !strings.HasSuffix(f, ".go") {
			return "", nil, fmt.Errorf("%s is not a Go file", f)
		}
		if !filepath.IsAbs(f) {
			f = filepath.Join(userDir, f)
		}
		if _, err := os.Stat(f); err != nil {
			return "", nil, err
		}
		if dir != "" && filepath.Dir(f) != dir {
			return "", nil, errors.New("the Go files are not in one directory")
		}
		dir = filepath.Dir(f)
		args = append(args, filepath.Base(f))
	}
	dir, err = filepath.EvalSymlinks(dir)
	return dir, args, err
}

// programOf returns the name that the go command gives to a module's program.
func programOf(modpath string) string {
	prefix, _, ok := module.SplitPathVersion(modpath)
	if !ok {
		prefix = modpath
	}
	return path.Base(prefix)
}

// inside reports whether path is below dir.
func inside(dir, path string) bool {
	if dir == "" || path == "" {
		return false
	}
	rel, err := filepath.Rel(dir, path)
	if err != nil {
		return false
	}
	return rel != "." && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// moduleCopy is a copy of a module in the module cache.
type moduleCopy struct {
	from, to string
}

// copyModule copies the module that contains dir, a directory in the module cache, and builds in
// the copy: the go command refuses overlays in the cache, and its files must not change. An
// existing copy is used again.
func (b *builder) copyModule(dir string) error {
	cache := b.env.GOMODCACHE
	rel, err := filepath.Rel(cache, dir)
	if err != nil {
		return err
	}
	parts := strings.Split(rel, string(filepath.Separator))
	n := 0
	for n < len(parts) && !strings.Contains(parts[n], "@") {
		n++
	}
	if n == len(parts) {
		return fmt.Errorf("%s is not in a module of the module cache", dir)
	}
	root := filepath.Join(parts[:n+1]...)
	c := &moduleCopy{from: filepath.Join(cache, root), to: filepath.Join(b.spec.WorkDir, "modules", root)}
	if err := c.make(filepath.Join(cache, "cache", "download"), filepath.ToSlash(root)); err != nil {
		return fmt.Errorf("copy module %s: %w", root, err)
	}
	b.copied = c
	b.dir = filepath.Join(append([]string{c.to}, parts[n+1:]...)...)
	b.goCommand.dir = b.dir
	b.goCommand.env = append(b.goCommand.env[:len(b.goCommand.env):len(b.goCommand.env)], "GOWORK=off")
	b.notes = append(b.notes, fmt.Sprintf("built from a copy of %s as the main module: the dependencies are those of its go.mod", filepath.ToSlash(root)))
	return nil
}

// make copies the files. The copy gets its final name only when it is complete.
func (c *moduleCopy) make(downloads, root string) error {
	if _, err := os.Stat(c.to); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(c.to), 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(c.to), "copy-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := os.CopyFS(tmp, os.DirFS(c.from)); err != nil {
		return err
	}
	if err := writable(tmp); err != nil {
		return err
	}
	mod := filepath.Join(tmp, "go.mod")
	if _, err := os.Stat(mod); errors.Is(err, os.ErrNotExist) {
		// A module from before go.mod: the cache has one that the go command generated.
		name, version, _ := strings.Cut(root, "@")
		data, err := os.ReadFile(filepath.Join(downloads, filepath.FromSlash(name), "@v", version+".mod"))
		if err != nil {
			return err
		}
		if err := os.WriteFile(mod, data, 0o644); err != nil {
			return err
		}
	}
	err = os.Rename(tmp, c.to)
	if _, there := os.Stat(c.to); there == nil {
		return nil // another hone was faster
	}
	return err
}

// writable makes the files of a tree writable for their owner.
func writable(root string) error {
	return filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.Chmod(path, info.Mode().Perm()|0o600)
	})
}

// position matches a place in a Go file at the start of a compiler's line.
var position = regexp.MustCompile(`(?m)^(\s*(?:vet: )?)([^\s:][^:\n]*\.go)(:\d+)`)

// asUserKnows rewrites the compiler's paths, which are relative to the directory of the build, to
// be relative to the user's.
func (b *builder) asUserKnows(err error) error {
	var failed *BuildError
	if !errors.As(err, &failed) {
		return err
	}
	failed.Output = position.ReplaceAllStringFunc(failed.Output, func(s string) string {
		m := position.FindStringSubmatch(s)
		return m[1] + b.userPath(m[2]) + m[3]
	})
	return err
}

func (b *builder) userPath(file string) string {
	full := file
	if !filepath.IsAbs(full) {
		full = filepath.Join(b.dir, file)
	}
	if b.copied != nil && inside(b.copied.to, full) {
		rel, _ := filepath.Rel(b.copied.to, full)
		return filepath.Join(b.copied.from, rel)
	}
	if _, err := os.Stat(full); err != nil {
		return file
	}
	rel, err := filepath.Rel(b.userDir, full)
	if err != nil || strings.HasPrefix(rel, filepath.Join("..", "..", "..")) {
		return full
	}
	if strings.HasPrefix(rel, "..") {
		return rel
	}
	return "." + string(filepath.Separator) + rel
}

// firstWords returns the first non-empty line of an error.
func firstWords(err error) string {
	text := err.Error()
	var failed *BuildError
	if errors.As(err, &failed) {
		text = failed.Output
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return line
		}
	}
	return text
}
