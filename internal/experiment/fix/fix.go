package fix

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/experiment"
	"github.com/hone-go/hone/internal/gittree"
	"github.com/hone-go/hone/internal/scratch"
	"github.com/hone-go/hone/internal/session"
)

// Spec says what to do with a plan.
type Spec struct {
	Options capture.Options // to record the target again
	Try     bool            // measure the target with the changes, interleaved with the unchanged target
	Write   bool            // write the files if everything succeeded
	Untried bool            // write without Try
	Runs    int             // of each side; 0: 6
	Seed    uint64
}

// Result is the result of carrying out a plan.
type Result struct {
	Schema  string             `json:"schema"`
	Target  string             `json:"target"`
	Fixes   []Fix              `json:"fixes"`
	Checked []string           `json:"checked,omitempty"` // commands that ran without an error in a copy with all changes
	Trial   *experiment.Result `json:"trial,omitempty"`   // the target with all changes, compared with the unchanged target
	Gain    bool               `json:"gain,omitempty"`    // the trial shows a gain and no loss
	Written []string           `json:"written,omitempty"` // files that were changed, relative to the module
	Refused string             `json:"refused,omitempty"` // why nothing was written, or measured
}

// dirPrefix starts the names of the copies.
const dirPrefix = "fix-"

// Run carries out a plan. An error means that something could not be tried; checks that the changes
// did not pass are in the result.
func Run(ctx context.Context, cfg session.Config, p *Plan, s Spec) (*Result, error) {
	r := &Result{Schema: Schema, Target: s.Options.Arg, Fixes: p.Fixes}
	if len(p.files) == 0 || !s.Try && !s.Write {
		return r, nil
	}
	// The copy is of the commit, so the tree must equal it; and the changes must be easy to revert.
	c, err := gittree.Describe(ctx, p.root, "")
	if err != nil {
		return nil, fmt.Errorf("changes are tried on a copy of the commit, so that they are easy to revert: %w", err)
	}
	if c.Dirty {
		return nil, errors.New("the tree has uncommitted changes: commit or stash them, so that changes by hone are easy to revert")
	}
	work := filepath.Join(cfg.CacheDir, "work")
	if err := os.MkdirAll(work, 0o755); err != nil {
		return nil, err
	}
	scratch.Sweep(work, time.Now(), dirPrefix)
	dir, err := scratch.Make(work, dirPrefix)
	if err != nil {
		return nil, err
	}
	defer dir.Remove()
	t := &run{cfg: cfg, plan: p, spec: s, result: r}
	if t.copy, _, err = gittree.Checkout(ctx, p.root, c.Hash, filepath.Join(dir.Path, "tree")); err != nil {
		return nil, err
	}
	return r, t.run(ctx)
}

// run is the state of a Run.
type run struct {
	cfg    session.Config
	plan   *Plan
	spec   Spec
	result *Result
	copy   string // of the module's root
}

func (t *run) run(ctx context.Context) error {
	if err := t.plan.writeTo(t.copy); err != nil {
		return err
	}
	if why, err := t.check(ctx); err != nil || why != "" {
		t.result.Refused = why
		return err
	}
	if t.spec.Try {
		if err := t.try(ctx); err != nil {
			return err
		}
		if !t.result.Gain {
			return nil
		}
	}
	if !t.spec.Write || ctx.Err() != nil {
		return ctx.Err()
	}
	if err := t.plan.write(); err != nil {
		return err
	}
	t.result.Written = t.plan.Changed()
	return nil
}

// say reports a step.
func (t *run) say(text string) {
	if t.cfg.Progress != nil {
		t.cfg.Progress(capture.Event{Phase: "fix", Text: text})
	}
}

// check vets the changed packages and runs their tests, and those of the packages of the module
// that import them.
func (t *run) check(ctx context.Context) (why string, err error) {
	packages, err := t.affected(ctx)
	if err != nil {
		return "", err
	}
	for _, command := range [][]string{{"vet"}, {"test", "-timeout=10m"}} {
		args := slices.Concat(command, t.spec.Options.BuildFlags, packages)
		text := "go " + strings.Join(args, " ")
		t.say(text)
		out, err := goCommand(ctx, t.copy, args...)
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if err != nil {
			return fmt.Sprintf("%s fails with the changes: %s", text, lastLines(out)), nil
		}
		t.result.Checked = append(t.result.Checked, text)
	}
	return "", nil
}

func lastLines(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-12):], "\n")
}

// goCommand runs the go command and returns its output, including its errors.
func goCommand(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.WaitDelay = 5 * time.Second
	return cmd.CombinedOutput()
}

// affected lists the changed packages, as ./x, and those that import them, also only in tests.
func (t *run) affected(ctx context.Context) ([]string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-e", "-json=ImportPath,Dir,Imports,TestImports,XTestImports", "./...")
	cmd.Dir = t.copy
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	type listed struct {
		ImportPath, Dir                    string
		Imports, TestImports, XTestImports []string
	}
	var all []listed
	changed := map[string]bool{} // import paths
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		all = append(all, p)
		rel, err := filepath.Rel(t.copy, p.Dir)
		if err != nil {
			continue
		}
		for _, name := range t.plan.Changed() {
			if filepath.Dir(filepath.FromSlash(name)) == rel {
				changed[p.ImportPath] = true
			}
		}
	}
	var list []string
	for _, p := range all {
		imports := slices.Concat(p.Imports, p.TestImports, p.XTestImports)
		if changed[p.ImportPath] || slices.ContainsFunc(imports, func(i string) bool { return changed[i] }) {
			list = append(list, p.ImportPath)
		}
	}
	if len(list) == 0 {
		return nil, errors.New("the commit does not have the packages of the changed files: are they committed?")
	}
	return list, nil
}

// try measures the changed copy and the tree.
func (t *run) try(ctx context.Context) error {
	o := t.spec.Options
	rel, err := filepath.Rel(t.plan.root, o.Dir)
	if err != nil || strings.HasPrefix(rel, "..") {
		return fmt.Errorf("the target's directory %s is not in the module %s", o.Dir, t.plan.root)
	}
	t.result.Trial, err = experiment.Run(ctx, t.cfg, experiment.Spec{
		Options: o, Variants: []experiment.Variant{{Name: "the changes", Dir: filepath.Join(t.copy, rel)}}, Runs: t.spec.Runs, Seed: t.spec.Seed, Progress: t.cfg.Progress,
	})
	if err != nil {
		return err
	}
	t.result.Gain, t.result.Refused = gain(t.result.Trial.Outcomes[0])
	return nil
}

// gain reports whether an outcome is better in one metric and worse in none; else it says why not.
func gain(o experiment.Outcome) (ok bool, why string) {
	switch {
	case o.Failed != "":
		return false, "with the changes the target fails: " + o.Failed
	case o.Differs != "":
		return false, o.Differs
	}
	for i := range o.Comparison.Rows {
		row := &o.Comparison.Rows[i]
		if row.Loss() {
			return false, "the trial shows a loss: " + row.Metric
		}
		ok = ok || row.Verdict == compare.Better && row.Metric != compare.GCShare
	}
	if !ok {
		why = "the trial shows no gain"
	}
	return ok, why
}

// writeTo writes the changed files to a copy of the module.
func (p *Plan) writeTo(root string) error {
	for name, text := range p.files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("%s is in the tree but not in the commit: %w", name, err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// write replaces the user's files: all new files are on disk before the first one is replaced.
func (p *Plan) write() error {
	temporary := map[string]string{} // path by the path of the file that it replaces
	defer func() {
		for t := range temporary {
			os.Remove(t) // does not exist any more if it was renamed
		}
	}()
	for _, name := range p.Changed() {
		path := filepath.Join(p.root, filepath.FromSlash(name))
		now, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !bytes.Equal(now, p.old[name]) {
			return fmt.Errorf("%s has changed in the meantime: nothing was written", name)
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		f, err := os.CreateTemp(filepath.Dir(path), ".hone-*")
		if err != nil {
			return err
		}
		temporary[f.Name()] = path
		_, err = f.Write(p.files[name])
		if err := errors.Join(err, f.Chmod(info.Mode().Perm()), f.Close()); err != nil {
			return err
		}
	}
	for from, to := range temporary {
		if err := os.Rename(from, to); err != nil {
			return err
		}
	}
	return nil
}
