package gocode

import (
	"path"
	"runtime/debug"
	"sort"
	"strings"
)

// module is one module of a program.
type module struct {
	path     string // as it is imported
	version  string // that was compiled; "" for main modules and directories
	main     bool   // the main module, or one of the workspace
	forkPath string // of the module that replaces it, if that is another module
	localDir string // of the directory that replaces it, as go.mod says it
}

// modules are the modules of a program, longest path first.
type modules []module

// newModules reads the modules from build info and notes what is replaced.
func newModules(info *debug.BuildInfo, note func(string)) modules {
	var ms modules
	if info.Main.Path != "" {
		ms = append(ms, module{path: info.Main.Path, main: true})
	}
	for _, d := range info.Deps {
		m := module{path: d.Path, version: d.Version}
		switch r := d.Replace; {
		case r != nil && isLocal(r.Path):
			m.version, m.localDir = "", slashed(r.Path)
			note(d.Path + " is replaced by the directory " + r.Path)
		case r != nil:
			m.version, m.forkPath = r.Version, r.Path
			note(d.Path + " is replaced by " + r.Path + " " + r.Version)
		case d.Version == "(devel)" || d.Version == "":
			// A dependency without a version and without a replacement can only
			// come from a workspace.
			m.version, m.main = "", true
		}
		ms = append(ms, m)
	}
	ms.sort()
	return ms
}

func (ms modules) sort() {
	sort.SliceStable(ms, func(i, j int) bool { return len(ms[i].path) > len(ms[j].path) })
}

// byPackage returns the module that holds a package or file path: the longest
// whose path is a prefix.
func (ms modules) byPackage(p string) (module, bool) {
	for _, m := range ms {
		if within(m.path, p) {
			return m, true
		}
	}
	return module{}, false
}

// byPath returns the module of that path, or the one that it replaces.
func (ms modules) byPath(p string) (module, bool) {
	for _, m := range ms {
		if m.path == p || m.forkPath == p {
			return m, true
		}
	}
	return module{}, false
}

// owner makes the owner of a file whose path inside the module is known.
func (m module) owner(file string) Owner {
	o := Owner{Kind: Dependency, Module: m.path, Version: m.version, File: file}
	if m.main {
		o.Kind, o.Version = Main, ""
	}
	o.Package = packageOf(m.path, file)
	return o
}

// packageOf joins a module's path with the directory of a file inside it.
func packageOf(modPath, file string) string {
	if dir := path.Dir(file); dir != "." {
		return modPath + "/" + dir
	}
	return modPath
}

// within reports whether p is prefix or lies below it.
func within(prefix, p string) bool {
	return prefix != "" && strings.HasPrefix(p, prefix) && (len(p) == len(prefix) || p[len(prefix)] == '/')
}

// below returns p relative to prefix, "" when they are equal.
func below(prefix, p string) string {
	return strings.TrimPrefix(p[len(prefix):], "/")
}

// isLocal reports whether a path is a directory and not a module path, as go.mod does.
func isLocal(p string) bool {
	return isAbs(slashed(p)) || p == "." || p == ".." ||
		strings.HasPrefix(slashed(p), "./") || strings.HasPrefix(slashed(p), "../")
}
