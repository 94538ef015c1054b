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
	"github.com/hone-go/hone/internal/shelf"
	"github.com/hone-go/hone/internal/source"
)

// Config is what every call needs to know about its environment.
type Config struct {
	CacheDir string       // hone's cache; it contains recordings, builds and compiler facts
	Version  string       // version of hone, written into recordings
	Keep     shelf.Limits // for the recordings in the cache
	Rules    string       // the rules to run, as package choice reads them; "" for those in the repository's hone.json
	// Progress is called with what hone is doing, in a few words; nil for no progress.
	Progress func(capture.Event)
}

func (c Config) say(phase, text string) {
	if c.Progress != nil {
		c.Progress(capture.Event{Phase: phase, Text: text})
	}
}

// Record records a target. If o.Out is empty, the recording gets a new name in the cache. It
// returns the recording's path, "" when nothing was recorded. An error together with a path means
// that the recording is incomplete.
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
		return "", fmt.Errorf("create a working directory: %w", err)
	}
	o.Version = c.Version
	o.Progress = c.Progress
	partial, err := capture.Record(ctx, o)
	if err != nil && !partial {
		return "", err
	}
	if werr := c.remember(out); werr != nil && err == nil {
		err = fmt.Errorf("note the path of the last recording: %w", werr)
	}
	return out, err
}

// remember makes a recording the last one, unless an experiment made it, which removes it soon.
func (c Config) remember(path string) error {
	if strings.HasPrefix(path, filepath.Join(c.CacheDir, "work")+string(filepath.Separator)) {
		return nil
	}
	return c.Shelf().Remember(path)
}

// Shelf returns the shelf with the recordings that have no path given by the user.
func (c Config) Shelf() shelf.Shelf { return shelf.In(c.CacheDir) }

// Opener returns an opener for what commands read.
func (c Config) Opener() source.Opener {
	return source.Opener{CacheDir: c.CacheDir, Progress: c.say}
}

// prune removes recordings beyond the limits and reports which.
func (c Config) prune() {
	removed, err := c.Shelf().Prune(time.Now(), c.Keep)
	if err != nil {
		c.say("cache", err.Error())
	}
	for _, e := range removed {
		c.say("cache", fmt.Sprintf("removed %s of %s: too old, or the cache too full (hone help recordings)", e.Name, e.Made.Format(time.DateOnly)))
	}
}

var notWord = regexp.MustCompile(`[^A-Za-z0-9]+`)

// recordingName returns a name that sorts by time and contains the target's name.
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
