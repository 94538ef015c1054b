package upstream

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/altmod"
	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/experiment"
	"github.com/hone-go/hone/internal/experiment/tunedeps"
	"github.com/hone-go/hone/internal/rewrite"
	"github.com/hone-go/hone/internal/scratch"
	"github.com/hone-go/hone/internal/session"
)

// Schema is the version of Result's JSON form.
const Schema = "hone/upstream/v1"

// Spec says what to do.
type Spec struct {
	Options capture.Options // to record the target again
	Dir     string          // directory of the copy and the issue
	Try     bool            // look for a version without the problem unless there is a copy already, and measure the copy
	Runs    int             // of each side of a trial
	Seed    uint64
}

// Result is what can be done about a finding.
type Result struct {
	Schema     string           `json:"schema"`
	Target     string           `json:"target"`
	Finding    string           `json:"finding"` // its label
	Rule       string           `json:"rule"`
	Title      string           `json:"title"`
	Module     string           `json:"module"`
	Version    string           `json:"version"`
	File       string           `json:"file"` // relative to the module
	Line       int              `json:"line"`
	Upgrade    *tunedeps.Module `json:"upgrade,omitempty"`    // the search for a version without the problem; absent if it was not asked for
	Workaround string           `json:"workaround,omitempty"` // what the caller can do
	Fork       *Fork            `json:"fork,omitempty"`       // absent if a version does not have the problem
	Issue      string           `json:"issue,omitempty"`      // the file with the text for the maintainers
}

// Fork is a patched copy of the module.
type Fork struct {
	Dir     string             `json:"dir,omitempty"`
	Replace string             `json:"replace,omitempty"` // the directive that uses it
	Diff    string             `json:"diff,omitempty"`    // unified, relative to the module
	Risk    rewrite.Risk       `json:"risk,omitempty"`    // judgement: the user changed the copy
	Why     string             `json:"why,omitempty"`     // why old and new do the same, as far as hone knows
	Tests   string             `json:"tests,omitempty"`   // the result of the module's own tests of the package
	Trial   *experiment.Result `json:"trial,omitempty"`   // the target with the copy, compared with the unchanged target
	Left    string             `json:"left,omitempty"`    // why the copy is not patched, or why there is no copy
}

// dirPrefix starts the names of the directories for alternate go.mod files.
const dirPrefix = "upstream-"

// Run looks for what can be done about a finding in a dependency.
func Run(ctx context.Context, cfg session.Config, f *diagnose.Finding, s Spec) (*Result, error) {
	if f.Module == "" || f.Version == "" || f.Line == 0 {
		return nil, errors.New("the finding is not in a dependency")
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
	r := &Result{Schema: Schema, Target: s.Options.Arg, Finding: f.Label(), Rule: f.Rule, Title: f.Title,
		Module: f.Module, Version: f.Version, File: f.File, Line: f.Line, Workaround: workaround(f)}
	copied := filepath.Join(s.Dir, strings.ReplaceAll(f.Module, "/", "_")+"@"+f.Version)
	if _, err := os.Stat(copied); s.Try && err != nil { // a user who has changed a copy has decided against another version
		found, err := tunedeps.Run(ctx, cfg, tunedeps.Spec{Options: s.Options, Modules: []string{f.Module}, Runs: s.Runs, Seed: s.Seed, Progress: cfg.Progress})
		if err != nil {
			return nil, err
		}
		r.Upgrade = &found.Modules[0]
		if r.Upgrade.Cure != nil {
			return r, nil
		}
	}
	tree, err := altmod.Open(ctx, "go", s.Options.Dir, dir.Path)
	if err != nil {
		return nil, err
	}
	t := &fork{cfg: cfg, spec: s, finding: f, tree: tree, work: dir.Path, dir: copied, result: &Fork{}}
	r.Fork = t.result
	if err := t.make(ctx); err != nil {
		if ctx.Err() != nil || t.made {
			return nil, errors.Join(err, t.undo())
		}
		*r.Fork = Fork{Left: err.Error()}
	}
	r.Issue = filepath.Join(s.Dir, "issue-"+strings.NewReplacer("/", "-", "@", "-").Replace(f.Module)+"-"+f.Label()+".md")
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return nil, err
	}
	return r, os.WriteFile(r.Issue, issue(f, r), 0o644)
}

// fork is a copy that is being made.
type fork struct {
	cfg     session.Config
	spec    Spec
	finding *diagnose.Finding
	tree    *altmod.Tree
	result  *Fork
	work    string // a temporary directory
	dir     string
	made    bool     // hone made the directory
	parents []string // directories that hone made for it, innermost first
}

// undo removes an unfinished copy, and the directories that were made for it.
func (t *fork) undo() error {
	if !t.made {
		return nil
	}
	err := os.RemoveAll(t.dir)
	for _, dir := range t.parents {
		if os.Remove(dir) != nil {
			break // something else is in it
		}
	}
	return err
}

// missing returns a directory and those above it that do not exist, innermost first.
func missing(dir string) (list []string) {
	for {
		if _, err := os.Lstat(dir); err == nil || dir == filepath.Dir(dir) {
			return list
		}
		list = append(list, dir)
		dir = filepath.Dir(dir)
	}
}

// make copies the module, patches the copy, runs its tests and measures it. An existing copy that
// differs from the module is the user's: it is tested and measured unchanged.
func (t *fork) make(ctx context.Context) error {
	f := t.finding
	source, err := t.tree.Source(ctx, f.Module, f.Version)
	if err != nil {
		return err
	}
	pristine := filepath.Join(t.work, "pristine")
	if err := copyModule(pristine, source, f.Module); err != nil {
		return err
	}
	t.result.Dir, t.result.Replace = t.dir, "replace "+f.Module+" => "+t.dir
	if _, err := os.Stat(t.dir); err == nil {
		if t.result.Diff, err = treeDiff(pristine, t.dir); err != nil {
			return err
		}
		if t.result.Diff == "" {
			return t.leave("the copy in " + t.dir + " is as the module is")
		}
		t.result.Risk, t.result.Why = rewrite.Judgement, "the copy in "+t.dir+" existed before, and hone does not know what it changes"
		return t.check(ctx, t.test(ctx, pristine))
	}
	t.made, t.parents = true, missing(t.spec.Dir)
	if err := os.MkdirAll(t.spec.Dir, 0o755); err != nil {
		return err
	}
	if err := copyModule(t.dir, source, f.Module); err != nil {
		return err
	}
	change, err := t.patch(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return t.leave(err.Error())
	}
	before := t.test(ctx, t.dir)
	if err := os.WriteFile(change.File, change.New, 0o644); err != nil {
		return err
	}
	t.result.Risk, t.result.Why = change.Risk, change.Why
	if t.result.Diff, err = treeDiff(pristine, t.dir); err != nil {
		return err
	}
	return t.check(ctx, before)
}

// leave leaves the copy to the user.
func (t *fork) leave(why string) error {
	t.result.Left = why + ": change the copy in " + t.dir + ", and run the same command again to test it, and with -try to measure it"
	return nil
}

// check tests the patched copy and measures it. before is the result of its tests without the
// patch.
func (t *fork) check(ctx context.Context, before string) (err error) {
	switch after := t.test(ctx, t.dir); {
	case ctx.Err() != nil:
		return ctx.Err()
	case before == "" && after != "":
		t.result.Tests = "fail with the patch, and pass without: " + after
		return nil
	case before != "":
		t.result.Tests = "fail without the patch, too: " + before
	default:
		t.result.Tests = "pass"
	}
	if !t.spec.Try {
		return nil
	}
	t.result.Trial, err = experiment.Run(ctx, t.cfg, experiment.Spec{Options: t.spec.Options, Runs: t.spec.Runs, Seed: t.spec.Seed, Progress: t.cfg.Progress,
		Variants: []experiment.Variant{{Name: "the patched copy", Modules: []string{t.finding.Module + "=" + t.dir}}}})
	return err
}

// patch computes the change of the finding's lines in the copy.
func (t *fork) patch(ctx context.Context) (*rewrite.Change, error) {
	f := t.finding
	if !slices.Contains(rewrite.Rules(), f.Rule) {
		return nil, errors.New("hone has no rewrite for " + f.Rule + " that is safe by types and syntax")
	}
	b, err := t.tree.Replace(f.Module, t.dir)
	if err != nil {
		return nil, err
	}
	pkg, err := rewrite.LoadPackage(ctx, t.spec.Options.Dir, path.Join(f.Module, path.Dir(f.File)), b.Flags, b.Env)
	if err != nil {
		return nil, err
	}
	lines := []int{f.Line}
	for _, s := range f.Sites {
		if s.Role == "" && s.File == f.File && s.Line > 0 && !slices.Contains(lines, s.Line) {
			lines = append(lines, s.Line)
		}
	}
	file := filepath.Join(t.dir, filepath.FromSlash(f.File))
	c, err := rewrite.Suggest(pkg, file, nil, f.Rule, lines)
	if err == nil && c.Risk == rewrite.Judgement {
		return nil, errors.New("the change takes judgement: " + c.Why)
	}
	return c, err
}

// test runs a copy's tests of the package; it returns "" when they pass, else their last lines. It
// does not run vet, whose reports about an old module's tests do not concern the patch.
func (t *fork) test(ctx context.Context, dir string) string {
	cmd := exec.CommandContext(ctx, "go", "test", "-vet=off", "-mod=mod", "-timeout=5m", ".")
	cmd.Dir = filepath.Join(dir, filepath.FromSlash(path.Dir(t.finding.File)))
	cmd.Env, cmd.WaitDelay = append(os.Environ(), "GOWORK=off"), 5*time.Second
	out, err := cmd.CombinedOutput()
	if err == nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.Join(lines[max(0, len(lines)-4):], "; ")
}
