package gocode

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

// buildFlag is one flag of go build.
type buildFlag struct {
	name  string // "tags"
	value string
	bare  bool // given without a value
}

func (f buildFlag) String() string {
	if f.bare {
		return "-" + f.name
	}
	return "-" + f.name + "=" + f.value
}

// parseBuildFlags reads flags as go build takes them: one dash or two, the value after
// "=" or in the next argument.
func parseBuildFlags(args []string) []buildFlag {
	var fs []buildFlag
	for i := 0; i < len(args); i++ {
		name := strings.TrimPrefix(strings.TrimPrefix(args[i], "-"), "-")
		if name == args[i] || name == "" {
			continue
		}
		name, value, has := strings.Cut(name, "=")
		f := buildFlag{name: name, value: value, bare: !has}
		if !has && takesValue(name) && i+1 < len(args) {
			i++
			f.value, f.bare = args[i], false
		}
		fs = append(fs, f)
	}
	return fs
}

// takesValue reports whether a flag of go build takes a value.
func takesValue(name string) bool {
	switch name {
	case "C", "o", "p", "asmflags", "buildmode", "compiler", "covermode", "coverpkg", "gccgoflags",
		"gcflags", "installsuffix", "ldflags", "mod", "modfile", "overlay", "pgo", "pkgdir", "tags", "toolexec":
		return true
	}
	return false
}

// compiles reports whether a flag changes which files are compiled or how. Linking, output and
// verbosity do not matter here.
func compiles(name string) bool {
	switch name {
	case "race", "msan", "asan", "trimpath", "tags", "asmflags", "buildmode", "compiler", "linkshared",
		"installsuffix", "modfile", "modcacherw", "overlay", "pgo", "pkgdir", "toolexec", "cover", "covermode", "coverpkg", "p":
		return true
	}
	return false // "gcflags" and "mod" are treated apart
}

// buildFlags returns the flags for go list and its compilations, without -gcflags: the user's, and
// those that build info adds.
func (x *Index) buildFlags() []string {
	var out []string
	seen := map[string]bool{}
	mod := ""
	for _, f := range parseBuildFlags(splitQuoted(x.goEnv().GOFLAGS)) {
		// The go command reads GOFLAGS itself.
		seen[f.name] = true
		if f.name == "mod" {
			mod = f.value
		}
	}
	for _, f := range parseBuildFlags(x.cfg.BuildFlags) {
		seen[f.name] = true
		if f.name == "mod" {
			mod = f.value
			continue
		}
		if compiles(f.name) {
			out = append(out, f.String())
		}
	}
	switch mod {
	case "":
	case "mod":
		out = append(out, "-mod=readonly") // -mod=mod would write go.mod
	default:
		out = append(out, "-mod="+mod)
	}
	for _, name := range [...]string{"tags", "trimpath", "race", "msan", "asan"} {
		if v := x.Setting("-" + name); v != "" && v != "false" && !seen[name] {
			out = append(out, "-"+name+"="+v)
		}
	}
	if v := x.Setting("-buildmode"); v != "" && v != "exe" && !seen["buildmode"] {
		out = append(out, "-buildmode="+v)
	}
	if f := x.pgoFile(); f != "" && !seen["pgo"] {
		out = append(out, "-pgo="+f)
	}
	return out
}

// pgoFile returns the profile that the binary was optimised with. It has to be named: the
// default.pgo of a main package is not found when another package is compiled alone.
func (x *Index) pgoFile() string {
	v := x.Setting("-pgo")
	if v == "" || v == "off" {
		return ""
	}
	for _, p := range []string{v, filepath.Join(x.cfg.Dir, filepath.Base(v))} {
		if filepath.IsAbs(p) && isFile(p) {
			return p
		}
	}
	x.note("the binary was optimised with the profile " + v + ", which is not here: the compiler's decisions may differ")
	return ""
}

// prepareProfile makes the go command preprocess the profile of a profile-guided build. go list
// would skip that and silently compile without the profile, unless the result is in the build cache
// (cmd/go/internal/work, pgoActor). Building the one package that imports nothing puts it there.
func (x *Index) prepareProfile() {
	x.pgo.get(func() struct{} {
		file := ""
		if p := filepath.Join(x.cfg.Dir, "default.pgo"); isFile(p) {
			file = p
		}
		flags := append(parseBuildFlags(splitQuoted(x.goEnv().GOFLAGS)), parseBuildFlags(x.buildFlags())...)
		for _, f := range flags {
			if f.name == "pgo" && f.value != "auto" {
				file = f.value
			}
		}
		if file == "" || file == "off" {
			return struct{}{}
		}
		if _, _, err := x.goCommand(x.ctx, x.buildEnv(), "build", "-pgo="+file, "-o", os.DevNull, "cmp"); err != nil {
			x.note("the profile of the profile-guided build cannot be used: " + err.Error())
		}
		return struct{}{}
	})
}

// buildEnv is the environment that the binary's settings ask for.
func (x *Index) buildEnv() []string {
	if x.info == nil {
		return nil
	}
	var env []string
	cross := false
	for _, s := range x.info.Settings {
		switch s.Key {
		case "GOOS":
			cross = cross || s.Value != runtime.GOOS
		case "GOARCH":
			cross = cross || s.Value != runtime.GOARCH
		case "CGO_ENABLED", "GOEXPERIMENT",
			"GOAMD64", "GOARM64", "GO386", "GOARM", "GOMIPS", "GOMIPS64", "GOPPC64", "GORISCV64", "GOWASM":
		default:
			continue
		}
		env = append(env, s.Key+"="+s.Value)
	}
	if cross && x.Setting("CGO_ENABLED") == "1" {
		x.note("the binary is of another platform and uses cgo: it is analysed as if built with CGO_ENABLED=0")
		env = append(env, "CGO_ENABLED=0")
	}
	return env
}

// gcflag is one -gcflags value of the user: flags for the packages of a pattern.
type gcflag struct {
	pattern string // "" = the target's package
	flags   []string
}

// userGcflags returns the user's compiler flags in the order in which they apply: of several that
// match a package the last wins. A -gcflags on the command line overrides all of those in GOFLAGS.
func (x *Index) userGcflags() []gcflag {
	var gs []gcflag
	for _, args := range [][]string{x.cfg.BuildFlags, splitQuoted(x.goEnv().GOFLAGS)} {
		for _, f := range parseBuildFlags(args) {
			if f.name == "gcflags" {
				gs = append(gs, parseGcflag(f.value))
			}
		}
		if len(gs) > 0 {
			return gs
		}
	}
	v := x.Setting("-gcflags")
	if v == "" {
		return nil
	}
	// Build info may come from a service: only flags that cannot write files.
	g := parseGcflag(v)
	safe := g.flags[:0]
	for _, f := range g.flags {
		switch f {
		case "-N", "-B", "-l", "-l=0", "-l=1", "-l=2", "-l=3", "-l=4":
			safe = append(safe, f)
		default:
			x.note("the binary was compiled with " + f + ", its compiler facts here are without it")
		}
	}
	g.flags = safe
	return []gcflag{g}
}

func parseGcflag(v string) gcflag {
	v = strings.TrimSpace(v)
	var g gcflag
	if v != "" && v[0] != '-' {
		pattern, flags, _ := strings.Cut(v, "=")
		g.pattern, v = strings.TrimSpace(pattern), flags
	}
	g.flags = splitQuoted(v)
	return g
}

// gcflagsFor returns the user's compiler flags for one package.
func (x *Index) gcflagsFor(user []gcflag, p *listedPackage) []string {
	var flags []string
	for _, g := range user {
		if x.gcflagMatches(g.pattern, p) {
			flags = g.flags
		}
	}
	return flags
}

// gcflagMatches does what cmd/go/internal/load.MatchPackage does, with the target's
// directory for relative patterns.
func (x *Index) gcflagMatches(pattern string, p *listedPackage) bool {
	switch {
	case pattern == "":
		return p.ImportPath == x.mainPackage() || p.Dir != "" && p.Dir == x.cfg.Dir
	case pattern == "all":
		return true
	case pattern == "std":
		return p.Standard
	case pattern == "cmd":
		return p.Standard && strings.HasPrefix(p.ImportPath, "cmd/")
	case pattern == "work":
		return p.Module != nil && p.Module.Main
	case isLocal(pattern):
		base, wild := pattern, ""
		if i := strings.Index(pattern, "..."); i >= 0 {
			j := strings.LastIndexByte(pattern[:i], '/')
			base, wild = pattern[:j], pattern[j+1:]
		}
		rel, err := filepath.Rel(filepath.Join(x.cfg.Dir, filepath.FromSlash(base)), p.Dir)
		if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return false
		}
		if wild == "" {
			return rel == "."
		}
		return matchPattern(wild, filepath.ToSlash(rel))
	}
	return matchPattern(pattern, p.ImportPath)
}

// matchPattern matches an import path with the go command's "..." wildcard; "a/..." also matches
// "a".
func matchPattern(pattern, name string) bool {
	re := strings.ReplaceAll(regexp.QuoteMeta(pattern), `\.\.\.`, `.*`)
	if prefix, ok := strings.CutSuffix(re, `/.*`); ok {
		re = prefix + `(/.*)?`
	}
	ok, err := regexp.MatchString("^"+re+"$", name)
	return ok && err == nil
}

// splitQuoted splits at white space; an element may be quoted by ' or ", as the go command
// reads GOFLAGS and -gcflags (cmd/internal/quoted). An unfinished quote runs to the end.
func splitQuoted(s string) []string {
	var out []string
	for {
		s = strings.TrimLeft(s, " \t\r\n")
		if s == "" {
			return out
		}
		if q := s[0]; q == '\'' || q == '"' {
			elem, rest, _ := strings.Cut(s[1:], string(q))
			out, s = append(out, elem), rest
			continue
		}
		i := strings.IndexAny(s, " \t\r\n")
		if i < 0 {
			i = len(s)
		}
		out, s = append(out, s[:i]), s[i:]
	}
}

// joinQuoted is the inverse of splitQuoted for elements with at most one kind of quote.
func joinQuoted(elems []string) string {
	out := make([]string, len(elems))
	for i, e := range elems {
		switch {
		case e != "" && !strings.ContainsAny(e, " \t\r\n'\""):
			out[i] = e
		case !strings.Contains(e, "'"):
			out[i] = "'" + e + "'"
		default:
			out[i] = `"` + e + `"`
		}
	}
	return strings.Join(out, " ")
}
