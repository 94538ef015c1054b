package source

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/profile"
)

// codeOf finds the code of a profile that is not part of a recording. Go binaries contain how they
// were built: it is read from the binary that the profile names, if that still exists. known
// reports whether it and the directory of the main package were found.
func (o Opener) codeOf(p *profile.Profile) (cfg gocode.Config, known bool) {
	cfg = gocode.Config{CacheDir: o.CacheDir, Dir: mainDir(p), Progress: func(s string) { o.Say("code", s) }}
	if p.TimeNanos > 0 {
		cfg.Built = time.Unix(0, p.TimeNanos) // at the latest
	}
	if len(p.Mappings) == 0 {
		return cfg, false
	}
	info, err := buildinfo.ReadFile(p.Mappings[0].File)
	if err != nil {
		return cfg, false
	}
	cfg.BuildInfo = info.String()
	// Files named on the command line are a package without a path.
	if info.Path != "command-line-arguments" {
		cfg.ImportPath, cfg.Test = strings.CutSuffix(info.Path, ".test")
	}
	return cfg, cfg.Dir != "" && cfg.ImportPath != ""
}

// Part decodes a profile of a recording.
func Part(rec *recording.Recording, name string) (*profile.Profile, error) {
	return readPart(rec, name, func(r io.Reader) (*profile.Profile, error) { return profile.Decode(r, 0) })
}

// Code prepares the index of the code that a recording measured. p is a profile of the recording:
// for a service that hone did not build, only the profile knows where the source was.
func (o Opener) Code(ctx context.Context, rec *recording.Recording, p *profile.Profile) (*gocode.Index, error) {
	m := rec.Manifest
	flags, refused := gocode.HarmlessFlags(m.Target.BuildFlags)
	cfg := gocode.Config{
		Dir:        m.Target.Dir,
		ImportPath: m.Target.ImportPath,
		Test:       m.Target.Bench != "",
		BuildFlags: flags,
		CacheDir:   o.CacheDir,
		Progress:   func(s string) { o.Say("code", s) },
		Built:      m.Created, // at the latest
	}
	if cfg.Dir == "" {
		cfg.Dir = mainDir(p)
	}
	if cfg.Dir == "" && rec.Has(recording.PartGoroutine) {
		// In a service whose work is in other packages, the first goroutine waits in package main.
		goroutines, err := Part(rec, recording.PartGoroutine)
		if err != nil {
			return nil, err
		}
		cfg.Dir = mainDir(goroutines)
	}
	if rec.Has(recording.PartBuildInfo) {
		r, err := rec.Part(recording.PartBuildInfo)
		if err != nil {
			return nil, err
		}
		defer r.Close()
		b, err := io.ReadAll(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", recording.PartBuildInfo, err)
		}
		cfg.BuildInfo = string(b)
	}
	index, err := gocode.Open(ctx, cfg)
	if err == nil && len(refused) > 0 {
		index.Note(gocode.RefusedFlags(refused))
	}
	return index, err
}

// mainDir returns the directory of package main's source if the profile names it and it exists on
// this machine; else "".
func mainDir(p *profile.Profile) string {
	if p == nil {
		return ""
	}
	for _, f := range p.Functions {
		if !strings.HasPrefix(f.Name, "main.") || !filepath.IsAbs(f.Filename) {
			continue
		}
		if _, err := os.Stat(f.Filename); err == nil {
			return filepath.Dir(f.Filename)
		}
	}
	return ""
}
