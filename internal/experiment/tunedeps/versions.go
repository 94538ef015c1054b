package tunedeps

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// tree is the target's module.
type tree struct {
	goCommand string
	dir       string // of the target's package
	gomod     string // the file
	work      string // where alternate files go
}

// openTree finds the module of a package's directory.
func openTree(ctx context.Context, goCommand, dir, work string) (*tree, error) {
	t := &tree{goCommand: goCommand, dir: dir, work: work}
	out, err := t.run(ctx, "env", "-json", "GOMOD", "GOWORK")
	if err != nil {
		return nil, err
	}
	var env struct{ GOMOD, GOWORK string }
	if err := json.Unmarshal(out, &env); err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	switch {
	case env.GOMOD == "" || env.GOMOD == os.DevNull:
		return nil, fmt.Errorf("%s is in no module: there are no versions to choose from", dir)
	case env.GOWORK != "" && env.GOWORK != "off":
		return nil, fmt.Errorf("%s is in use, and the go command takes no other go.mod there: set GOWORK=off, with the workspace's replacements in go.mod", env.GOWORK)
	}
	t.gomod = env.GOMOD
	return t, nil
}

func (t *tree) run(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, t.goCommand, args...)
	cmd.Dir = t.dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, lastLines(stderr.String()))
	}
	return stdout.Bytes(), nil
}

// lastLines are the last two lines of what a command said.
func lastLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-2):], "; ")
}

// current is the version of a module that the target's build has, and whether a replacement stands in its place.
func (t *tree) current(ctx context.Context, module string) (version string, replaced bool, err error) {
	out, err := t.run(ctx, "list", "-mod=mod", "-modfile="+t.copyName("list"), "-m", "-json", module)
	if err != nil {
		return "", false, err
	}
	var m struct {
		Version string
		Replace *struct{ Path string }
	}
	if err := json.Unmarshal(out, &m); err != nil {
		return "", false, fmt.Errorf("go list -m %s: %w", module, err)
	}
	return m.Version, m.Replace != nil, nil
}

// copyName copies go.mod and go.sum under another name, so that the go command may write to them.
func (t *tree) copyName(name string) string {
	path := filepath.Join(t.work, name+".mod")
	for from, to := range map[string]string{t.gomod: path, strings.TrimSuffix(t.gomod, ".mod") + ".sum": strings.TrimSuffix(path, ".mod") + ".sum"} {
		if data, err := os.ReadFile(from); err == nil {
			os.WriteFile(to, data, 0o600)
		}
	}
	return path
}

// newer are the released versions of a module that are newer than one, oldest first.
func (t *tree) newer(ctx context.Context, module, version string) ([]string, error) {
	out, err := t.run(ctx, "list", "-mod=mod", "-modfile="+t.copyName("list"), "-m", "-versions", "-json", module)
	if err != nil {
		return nil, err
	}
	var m struct{ Versions []string }
	if err := json.Unmarshal(out, &m); err != nil {
		return nil, fmt.Errorf("go list -m -versions %s: %w", module, err)
	}
	return newerThan(m.Versions, version), nil
}

func newerThan(all []string, version string) []string {
	var newer []string
	for _, v := range all {
		if semver.IsValid(v) && semver.Prerelease(v) == "" && semver.Compare(v, version) > 0 {
			newer = append(newer, v)
		}
	}
	slices.SortFunc(newer, semver.Compare)
	return newer
}

// with writes a go.mod with another version of a module and returns the build flags that use it.
func (t *tree) with(ctx context.Context, module, version string) ([]string, error) {
	name := t.copyName("with-" + strings.NewReplacer("/", "_", "+", "_").Replace(module+"@"+version))
	if _, err := t.run(ctx, "get", "-modfile="+name, module+"@"+version); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	f, err := modfile.ParseLax(name, data, nil)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(f.Require, func(r *modfile.Require) bool { return r.Mod.Path == module && r.Mod.Version == version }) {
		return nil, errors.New("the other modules do not allow this version")
	}
	return []string{"-modfile=" + name, "-mod=mod"}, nil
}
