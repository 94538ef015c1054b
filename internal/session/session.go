package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/shelf"
)

// Config is what every call needs to know of its surroundings.
type Config struct {
	CacheDir string       // hone's own; recordings, builds and compiler facts live below it
	Version  string       // hone's, written into recordings
	Keep     shelf.Limits // of the recordings in the cache
	Rules    string       // which rules run, as package choice reads it; "" for what the repository's hone.json says
	// Progress is told what is being done, in a few words; nil for silence.
	Progress func(capture.Event)
}

func (c Config) say(phase, text string) {
	if c.Progress != nil {
		c.Progress(capture.Event{Phase: phase, Text: text})
	}
}

// lastFile names the latest recording, wherever it was written.
const lastFile = "last"

// Record records a target. An empty o.Out is a new name in the cache. It returns
// the recording's path, "" when nothing was recorded; an error beside a path
// means that the recording is cut short.
func Record(ctx context.Context, c Config, o capture.Options) (string, error) {
	reserved := ""
	if o.Out == "" {
		c.prune()
		var err error
		if reserved, err = c.Shelf().Reserve(recordingName(time.Now(), o)); err != nil {
			return "", err
		}
		o.Out = reserved
	}
	path, err := c.record(ctx, o)
	if reserved != "" && path == "" {
		os.Remove(reserved) // nothing was recorded
	}
	return path, err
}

func (c Config) record(ctx context.Context, o capture.Options) (string, error) {
	out, err := filepath.Abs(o.Out)
	if err != nil {
		return "", err
	}
	o.Out = out
	o.WorkDir = filepath.Join(c.CacheDir, "work")
	if err := os.MkdirAll(o.WorkDir, 0o755); err != nil {
		return "", fmt.Errorf("make a place to work: %w", err)
	}
	o.Version = c.Version
	o.Progress = c.Progress
	partial, err := capture.Record(ctx, o)
	if err != nil && !partial {
		return "", err
	}
	if werr := c.remember(out); werr != nil && err == nil {
		err = fmt.Errorf("remember the recording: %w", werr)
	}
	return out, err
}

// remember makes a recording the last one, which commands take when none is named. Those that lie where hone works are of
// experiments, and soon removed.
func (c Config) remember(path string) error {
	if strings.HasPrefix(path, filepath.Join(c.CacheDir, "work")+string(filepath.Separator)) {
		return nil
	}
	return os.WriteFile(filepath.Join(c.CacheDir, lastFile), []byte(path+"\n"), 0o644)
}

// Shelf holds the recordings without a name of the user's.
func (c Config) Shelf() shelf.Shelf { return shelf.Shelf{Dir: c.recordings()} }

func (c Config) recordings() string { return filepath.Join(c.CacheDir, "recordings") }

// prune removes recordings beyond the limits, and says which.
func (c Config) prune() {
	removed, err := c.Shelf().Prune(time.Now(), c.Keep)
	if err != nil {
		c.say("cache", err.Error())
	}
	for _, e := range removed {
		c.say("cache", fmt.Sprintf("removed %s of %s: too old, or the cache too full (hone help recordings)", e.Name, e.Made.Format(time.DateOnly)))
	}
}

// Find returns the path of a recording that the user named: a file, else the name
// alone, or the label, of one in hone's cache.
func Find(c Config, name string) string {
	if filepath.Base(name) != name {
		return name
	}
	if _, err := os.Stat(name); err == nil {
		return name
	}
	if e, ok := c.Shelf().Find(name); ok {
		return e.Path
	}
	return name
}

// shortName is how commands name a recording: those in the cache by their name alone.
func shortName(c Config, path string) string {
	if filepath.Dir(path) == c.recordings() {
		return filepath.Base(path)
	}
	return path
}

// Last returns the path of the latest recording.
func Last(c Config) (string, error) {
	b, err := os.ReadFile(filepath.Join(c.CacheDir, lastFile))
	if os.IsNotExist(err) {
		return "", fmt.Errorf("there is no last recording yet; name one, or make one with `hone record TARGET`")
	}
	if err != nil {
		return "", fmt.Errorf("find the last recording: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}

var notWord = regexp.MustCompile(`[^A-Za-z0-9]+`)

// recordingName makes names that sort by time and tell the target.
func recordingName(now time.Time, o capture.Options) string {
	what := o.Package
	if o.URL != "" {
		what = o.URL
	}
	if what == "" || what == "." {
		what = filepath.Base(o.Dir)
	}
	words := strings.Trim(notWord.ReplaceAllString(what, "-"), "-")
	if words == "" { // ./ and the like
		words = notWord.ReplaceAllString(filepath.Base(o.Dir), "-")
	}
	if len(words) > 40 {
		words = words[len(words)-40:]
	}
	return now.Format("20060102-150405") + "-" + strings.Trim(words, "-") + ".hone"
}

// Manifest reads the manifest of a recording.
func Manifest(c Config, path string) (recording.Manifest, error) {
	rec, err := recording.Open(Find(c, path))
	if err != nil {
		return recording.Manifest{}, err
	}
	defer rec.Close()
	return rec.Manifest, nil
}

// TargetOf returns what a recording is of, as the user typed it; "" when the file cannot be read.
func TargetOf(path string) string {
	rec, err := recording.Open(path)
	if err != nil {
		return ""
	}
	defer rec.Close()
	return rec.Manifest.Target.Arg
}
