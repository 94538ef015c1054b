package gocode

import (
	"runtime/debug"
	"strings"
)

// parseBuildInfo reads the text form of build info. debug.ParseBuildInfo leaves out the Go version,
// which the runtime knows elsewhere, and a last line without its end.
func parseBuildInfo(text string) (*debug.BuildInfo, error) {
	info, err := debug.ParseBuildInfo(strings.TrimRight(text, "\n") + "\n")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(line, "go\t"); ok {
			info.GoVersion = strings.TrimSpace(v)
			break
		}
	}
	return info, nil
}

// BuildInfo returns the build information of the binary, nil when it is not known.
// The caller must not change it.
func (x *Index) BuildInfo() *debug.BuildInfo { return x.info }

// Setting returns a build setting of the binary ("-trimpath", "GOAMD64", "vcs.revision"),
// "" when it is not set or not known.
func (x *Index) Setting(key string) string {
	if x.info == nil {
		return ""
	}
	for _, s := range x.info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
