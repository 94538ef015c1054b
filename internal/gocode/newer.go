package gocode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	modpath "golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

const (
	askingTime  = 5 * time.Second // for one question to the proxy; after that the module cache has to do
	newerKept   = 24 * time.Hour
	newerFormat = "hone versions 1"
)

// Candidate is a version of a module that is newer than another.
type Candidate struct {
	Module  string // differs from the one asked for when it is the next major version: "github.com/go-chi/chi/v5"
	Version string
}

func (c Candidate) String() string { return c.Module + " " + c.Version }

// Newer returns the versions that are newer than a version of a module, oldest first: the newest
// release of each minor version of the same module, at most four, and the newest of the next major
// version when that has a path of its own. Whether any of them is better is not known.
//
// It asks the go command, which asks the proxy of the user's settings. With GOPROXY=off, or without
// an answer within seconds, only the module cache is known. Answers are kept for a day in the cache
// directory. Nothing is downloaded except lists of versions.
func (x *Index) Newer(ctx context.Context, path, version string) []Candidate {
	if path == "" || !semver.IsValid(version) || modpath.CheckPath(path) != nil {
		return nil
	}
	own := later(x.versions(ctx, path), version)
	var found []Candidate
	for _, v := range own {
		found = append(found, Candidate{path, v})
	}
	newest := version
	if len(own) > 0 {
		newest = own[len(own)-1]
	}
	if next := nextMajor(path, newest); next != "" {
		if vs := later(x.versions(ctx, next), ""); len(vs) > 0 {
			found = append(found, Candidate{next, vs[len(vs)-1]})
		}
	}
	return found
}

// Releases returns the releases of a module after one version and up to another, in order; none
// when that is not known. Without a last one it returns all after the first.
func (x *Index) Releases(ctx context.Context, path, after, last string) []string {
	var list []string
	for _, v := range x.versions(ctx, path) {
		if semver.IsValid(v) && semver.Prerelease(v) == "" && semver.Compare(v, after) > 0 && (last == "" || semver.Compare(v, last) <= 0) {
			list = append(list, v)
		}
	}
	semver.Sort(list)
	return slices.Compact(list)
}

// Download returns the directory of a version of a module in the module cache. The go command
// downloads it if it is not there, outside of any module: go.mod is neither read nor written.
func (x *Index) Download(ctx context.Context, path, version string) (string, error) {
	if dir, ok := x.ModuleDir(path, version); ok && isDir(dir) {
		return dir, nil
	}
	out, err := x.ask(ctx, "mod", "download", "-json", path+"@"+version)
	if err != nil {
		return "", err
	}
	var m struct{ Dir string }
	if err := json.Unmarshal(out, &m); err != nil || m.Dir == "" {
		return "", fmt.Errorf("go mod download %s@%s named no directory (%v)", path, version, err)
	}
	return m.Dir, nil
}

func isDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// later picks the newest release of each minor version after a given one, at most four.
func later(versions []string, than string) []string {
	versions = slices.Clone(versions)
	semver.Sort(versions)
	var kept []string
	for _, v := range versions {
		if semver.Prerelease(v) != "" || than != "" && semver.Compare(v, than) <= 0 {
			continue
		}
		if n := len(kept); n > 0 && semver.MajorMinor(kept[n-1]) == semver.MajorMinor(v) {
			kept[n-1] = v
		} else {
			kept = append(kept, v)
		}
	}
	return kept[max(0, len(kept)-4):]
}

// nextMajor returns the path of the major version after the newest known: "…/v5" after v4 of a
// module without such an ending; "" if no rule defines it (gopkg.in).
func nextMajor(path, newest string) string {
	prefix, _, ok := modpath.SplitPathVersion(path)
	major, err := strconv.Atoi(strings.TrimPrefix(semver.Major(newest), "v"))
	if !ok || err != nil || strings.HasPrefix(path, "gopkg.in/") {
		return ""
	}
	return prefix + "/v" + strconv.Itoa(max(major, 1)+1)
}

// versions returns the known versions of a module: what the go command says, kept for a day,
// and what is in the module cache.
func (x *Index) versions(ctx context.Context, path string) []string {
	if kept, ok := x.keptVersions(path); ok {
		return kept
	}
	versions, err := x.askVersions(ctx, path)
	if ctx.Err() != nil {
		return nil
	}
	if err == nil {
		x.keepVersions(path, versions)
	}
	for _, v := range x.cachedVersions(path) {
		if !slices.Contains(versions, v) {
			versions = append(versions, v)
		}
	}
	return versions
}

// askVersions asks for the versions of a module.
func (x *Index) askVersions(ctx context.Context, path string) ([]string, error) {
	out, err := x.ask(ctx, "list", "-m", "-versions", "-json", path)
	if err != nil {
		return nil, err
	}
	var m struct{ Versions []string }
	if err := json.Unmarshal(out, &m); err != nil {
		return nil, fmt.Errorf("versions of %s: %w", path, err)
	}
	return m.Versions, nil
}

// ask runs the go command, outside of any module: go.mod is neither read nor written.
func (x *Index) ask(ctx context.Context, args ...string) ([]byte, error) {
	if x.silent.Load() {
		return nil, errors.New("the proxy did not answer before")
	}
	ctx, cancel := context.WithTimeout(ctx, askingTime)
	defer cancel()
	outside := &Index{ctx: ctx, cfg: Config{GoCommand: x.cfg.GoCommand}}
	env := []string{"GOFLAGS=", "GOWORK=off", "GIT_TERMINAL_PROMPT=0", "GIT_SSH_COMMAND=ssh -o BatchMode=yes"}
	out, _, err := outside.goCommand(ctx, env, args...)
	if err != nil && ctx.Err() != nil {
		x.silent.Store(true) // one wait is enough for a report
	}
	return out, err
}

// cachedVersions are the versions of a module that lie in the module cache.
func (x *Index) cachedVersions(path string) (versions []string) {
	escaped, err := modpath.EscapePath(path)
	if err != nil || x.goEnv().GOMODCACHE == "" {
		return nil
	}
	dir := filepath.Join(x.goEnv().GOMODCACHE, "cache", "download", filepath.FromSlash(escaped), "@v")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".info")
		if !ok {
			continue
		}
		if v, err := modpath.UnescapeVersion(name); err == nil && semver.IsValid(v) {
			versions = append(versions, v)
		}
	}
	return versions
}

// answer is what is kept of a question.
type answer struct {
	Format   string    `json:"format"`
	Asked    time.Time `json:"asked"`
	Versions []string  `json:"versions"`
}

func (x *Index) versionsFile(path string) string {
	escaped, err := modpath.EscapePath(path)
	if err != nil || x.cfg.CacheDir == "" {
		return ""
	}
	return filepath.Join(x.cfg.CacheDir, "versions", strings.ReplaceAll(escaped, "/", "!!")+".json")
}

func (x *Index) keptVersions(path string) ([]string, bool) {
	file := x.versionsFile(path)
	if file == "" {
		return nil, false
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, false
	}
	var a answer
	if json.Unmarshal(b, &a) != nil || a.Format != newerFormat || time.Since(a.Asked) > newerKept {
		return nil, false
	}
	return a.Versions, true
}

// keepVersions caches an answer; what cannot be cached is asked again.
func (x *Index) keepVersions(path string, versions []string) {
	file := x.versionsFile(path)
	if file == "" || os.MkdirAll(filepath.Dir(file), 0o755) != nil {
		return
	}
	b, err := json.Marshal(answer{newerFormat, time.Now(), versions})
	if err != nil {
		return
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), "new-*")
	if err != nil {
		return
	}
	_, err = tmp.Write(b)
	if closed := tmp.Close(); err != nil || closed != nil || os.Rename(tmp.Name(), file) != nil {
		os.Remove(tmp.Name())
	}
}
