package gocode

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
)

// maxFacts bounds how many packages are compiled for facts at a time.
const maxFacts = 256

// Facts compiles the named packages (import paths) once with the optimiser log on, or reads the
// cache. They are compiled with the binary's own settings, nothing is linked, and packages of other
// modules and of the standard library are compiled in their own directories. The facts of the
// target's package cover only the user's files, and include its tests if Config.Test is set. A
// package that cannot be compiled does not fail the others: Packages says why. The error is that of
// ctx.
//
// Two steps make the cache exact. `go list -export` without the log gives the build IDs, which hash
// all inputs of a compilation; it compiles only what the build cache lacks. Packages whose facts
// are not in the cache are then compiled with the log written to a directory with a new name: the
// name is part of the flags, so the build cache cannot answer with an old result, for which it
// would write no log.
func (x *Index) Facts(ctx context.Context, pkgs []string) (*Facts, error) {
	f := &Facts{index: x, files: map[string][]*factFile{}, lacking: map[string]string{}}
	want, over := distinct(pkgs, maxFacts)
	for _, p := range over {
		f.lacking[p] = fmt.Sprintf("more than %d packages were asked for", maxFacts)
	}
	if why := x.cannotBuild(); why != "" {
		for _, p := range want {
			f.lacking[p] = why
		}
		return f, ctx.Err()
	}
	x.prepareProfile()
	var plain, tested []string
	for _, p := range want {
		if x.cfg.Test && p == x.mainPackage() {
			tested = append(tested, p)
		} else {
			plain = append(plain, p)
		}
	}
	x.addFacts(ctx, f, plain, false)
	x.addFacts(ctx, f, tested, true)
	sort.Strings(f.have)
	return f, ctx.Err()
}

// unit is one package to be compiled for facts.
type unit struct {
	listedPackage
	files   map[string]bool // base names of its Go files
	buildID string          // of all its variants
}

// addFacts adds the facts of packages, or the reasons why there are none.
func (x *Index) addFacts(ctx context.Context, f *Facts, pkgs []string, tests bool) {
	if len(pkgs) == 0 {
		return
	}
	lack := func(names []string, err error) {
		for _, p := range names {
			f.lacking[p] = err.Error()
		}
	}
	units, err := x.units(ctx, pkgs, tests)
	if err != nil {
		lack(pkgs, err)
		return
	}
	var missing []*unit
	for _, p := range pkgs {
		u := units[p]
		switch {
		case u == nil:
			lack([]string{p}, errors.New("the go command does not know it in "+x.cfg.Dir))
			continue
		case u.Error != nil:
			lack([]string{p}, errors.New(strings.TrimSpace(u.Error.Err)))
			continue
		}
		if facts, ok := x.loadFacts(p, u.buildID); ok {
			f.add(facts)
			continue
		}
		missing = append(missing, u)
	}
	if len(missing) == 0 {
		return
	}
	x.progress("asking the compiler about " + few(missing[0].ImportPath, len(missing)) + ": compiled once, then remembered")
	done, err := x.compile(ctx, missing, tests)
	for _, u := range missing {
		switch p := done[u.ImportPath]; {
		case p != nil:
			x.storeFacts(p, u.buildID)
			f.add(p)
		case err != nil:
			lack([]string{u.ImportPath}, err)
		default:
			lack([]string{u.ImportPath}, errors.New("the compiler wrote no log"))
		}
	}
}

// units lists packages with their build IDs, by import path.
func (x *Index) units(ctx context.Context, pkgs []string, tests bool) (map[string]*unit, error) {
	list, _, err := x.export(ctx, pkgs, tests, x.userGcflagArgs())
	if err != nil {
		return nil, err
	}
	units := map[string]*unit{}
	for _, p := range list {
		name := p.ImportPath
		if p.ForTest != "" {
			name = p.ForTest
		}
		if strings.HasSuffix(p.ImportPath, ".test") {
			continue
		}
		u := units[name]
		if u == nil {
			u = &unit{files: map[string]bool{}}
			units[name] = u
		}
		if p.ForTest == "" {
			u.listedPackage = *p
		}
		if p.BuildID == "" && p.Error == nil {
			p.Error = &struct{ Err string }{"the package has no Go files to compile"}
		}
		if p.Error != nil {
			u.Error = p.Error
		}
		u.buildID += p.ImportPath + " " + p.BuildID + "\n"
		for _, names := range [][]string{p.GoFiles, p.CgoFiles} {
			for _, n := range names {
				u.files[n] = true
			}
		}
	}
	return units, nil
}

// export runs go list -export, which compiles packages without linking them.
func (x *Index) export(ctx context.Context, pkgs []string, tests bool, gcflags []string) ([]*listedPackage, []byte, error) {
	args := []string{"list", "-e", "-export"}
	args = append(args, "-json=Dir,ImportPath,Name,ForTest,Standard,Module,BuildID,GoFiles,CgoFiles,Error")
	args = append(args, x.buildFlags()...)
	args = append(args, gcflags...)
	if tests {
		// The package and its variant for the test write the same log files, so
		// they must not be compiled at the same time.
		args = append(args, "-test", "-p=1")
	}
	out, words, err := x.goCommand(ctx, x.buildEnv(), append(append(args, "--"), pkgs...)...)
	if err != nil {
		return nil, nil, err
	}
	list, err := decodePackages(out)
	return list, words, err
}

// userGcflagArgs repeats the user's -gcflags. Those without a pattern are for the packages on
// the user's command line, which are not those on ours.
func (x *Index) userGcflagArgs() []string {
	var args []string
	for _, g := range x.userGcflags() {
		if g.pattern == "" {
			g.pattern = x.mainPackage()
		}
		args = append(args, "-gcflags="+g.pattern+"="+joinQuoted(g.flags))
	}
	return args
}

// compile compiles packages with the log on and reads it. The error is that of the go command as a
// whole.
func (x *Index) compile(ctx context.Context, units []*unit, tests bool) (map[string]*packageFacts, error) {
	dir, err := x.logRoot()
	if err != nil {
		return nil, fmt.Errorf("compile for facts: %w", err)
	}
	defer os.RemoveAll(dir)
	user := x.userGcflags()
	args := x.userGcflagArgs()
	var names []string
	for i, u := range units {
		names = append(names, u.ImportPath)
		args = append(args, x.withGcflags(user, u, "-json=0,"+logURL(logDir(dir, i))))
	}
	if _, _, err := x.export(ctx, names, tests, args); err != nil {
		return nil, err
	}
	done := map[string]*packageFacts{}
	for i, u := range units {
		facts, unusable, err := x.readLogs(logDir(dir, i), u)
		if err != nil {
			x.note("compiler facts of " + u.ImportPath + ": " + err.Error())
		}
		if len(unusable) > 0 {
			more, err := x.compileText(ctx, u, tests, unusable)
			if err != nil {
				x.note("compiler facts of " + u.ImportPath + " are not whole: " + err.Error())
			}
			facts = append(facts, more...)
		}
		t := newTable(u.ImportPath)
		for _, f := range facts {
			t.add(f)
		}
		done[u.ImportPath] = t.facts
	}
	return done, nil
}

// logRoot creates a new directory for logs.
func (x *Index) logRoot() (string, error) {
	parent := "" // without a cache, the system's temporary directory
	if x.cfg.CacheDir != "" {
		parent = x.factDir()
		if err := os.MkdirAll(parent, 0o755); err != nil {
			return "", err
		}
	}
	dir, err := os.MkdirTemp(parent, "log-*")
	if err != nil {
		return "", err
	}
	return filepath.Abs(dir)
}

// withGcflags is the -gcflags argument of one package: the user's flags and one more.
func (x *Index) withGcflags(user []gcflag, u *unit, flag string) string {
	flags := append([]string(nil), x.gcflagsFor(user, &u.listedPackage)...)
	return "-gcflags=" + u.ImportPath + "=" + joinQuoted(append(flags, flag))
}

// logDir is the log directory of the package with that number. Each has its own: the compiler names
// the folders in it by package, and all main packages are called main.
func logDir(dir string, i int) string { return filepath.Join(dir, fmt.Sprint(i)) }

// logURL writes a directory as the compiler takes it on all systems, without spaces or quotes.
func logURL(dir string) string {
	p := filepath.ToSlash(dir)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	return (&url.URL{Scheme: "file", Path: p}).String()
}

// readLogs reads all log files of a package. unusable lists the base names of its files for which
// the log is wrong: a foreign file of the same name, from which generic or generated code was
// compiled in, has overwritten the log; or cgo rewrote the file, and the log has the lines of the
// result.
func (x *Index) readLogs(dir string, u *unit) (facts []Fact, unusable map[string]bool, err error) {
	logs, err := filepath.Glob(filepath.Join(globEscape(dir), "*", "*.json"))
	if err != nil {
		return nil, nil, err
	}
	unusable = map[string]bool{}
	for _, name := range logs {
		if u.Name != "main" && filepath.Base(filepath.Dir(name)) == "main" {
			continue // the generated main package of a test
		}
		h, fs, e := readLogFile(name)
		if e != nil {
			err = e
			continue
		}
		base := path.Base(slashed(h.File))
		if strings.HasPrefix(base, "<") || base == "_cgo_gotypes.go" {
			continue // wrappers that the toolchain generates: nobody's lines
		}
		if written, ok := strings.CutSuffix(base, ".cgo1.go"); ok {
			unusable[written+".go"] = true
			continue
		}
		if o := x.Owner("", h.File); u.files[base] && o.Package != "" && o.Package != u.ImportPath {
			unusable[base] = true
		}
		facts = append(facts, fs...)
	}
	return facts, unusable, err
}

func readLogFile(name string) (logHeader, []Fact, error) {
	fd, err := os.Open(name)
	if err != nil {
		return logHeader{}, nil, err
	}
	defer fd.Close()
	return readLog(fd)
}

// globEscape keeps the characters of a directory from being taken for a pattern.
func globEscape(dir string) string {
	if filepath.Separator == '\\' {
		return dir // Windows has no escape, and [ is rare there
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}

// compileText asks for the compiler's text output and keeps what it says about some files.
func (x *Index) compileText(ctx context.Context, u *unit, tests bool, files map[string]bool) ([]Fact, error) {
	args := append(x.userGcflagArgs(), x.withGcflags(x.userGcflags(), u, "-m=2"))
	_, words, err := x.export(ctx, []string{u.ImportPath}, tests, args)
	if err != nil {
		return nil, err
	}
	var kept []Fact
	seen := map[string]bool{} // a test variant repeats everything
	for _, f := range readText(words, x.printedFile) {
		file := f.Chain[0].File
		key := f.Code + f.Message + chainKey(f.Chain)
		if seen[key] || !files[filepath.Base(filepath.FromSlash(file))] || x.Owner("", file).Package != u.ImportPath {
			continue
		}
		seen[key] = true
		kept = append(kept, f)
	}
	return kept, nil
}

// printedFile makes a file name absolute that the go command shortened for its directory.
func (x *Index) printedFile(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	if p := filepath.Join(x.cfg.Dir, filepath.FromSlash(name)); isFile(p) {
		return p
	}
	return name
}
