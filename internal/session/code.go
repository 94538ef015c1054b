package session

import (
	"debug/buildinfo"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/profile"
)

// codeOf says where the code of a profile is that is no part of a recording. Go programs carry
// along how they were built: it is read from the program that the profile names, when it is still there.
// known tells that this and the directory of the main package were found.
func codeOf(c Config, p *profile.Profile) (cfg gocode.Config, known bool) {
	cfg = gocode.Config{CacheDir: c.CacheDir, Dir: mainDir(p), Progress: func(s string) { c.say("code", s) }}
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
