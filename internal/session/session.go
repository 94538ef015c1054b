package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/recording"
)

// Config is what every call needs to know of its surroundings.
type Config struct {
	CacheDir string // hone's own; recordings, builds and compiler facts live below it
	Version  string // hone's, written into recordings
	// Progress is told what is being done, in a few words; nil for silence.
	Progress func(capture.Event)
}

func (c Config) say(phase, text string) {
	if c.Progress != nil {
		c.Progress(capture.Event{Phase: phase, Text: text})
	}
}

// keepRecordings is how many recordings without a name of the user's stay in the cache.
const keepRecordings = 20

// lastFile names the latest recording, wherever it was written.
const lastFile = "last"

// Record records a target. An empty o.Out is a new name in the cache. It returns
// the recording's path, "" when nothing was recorded; an error beside a path
// means that the recording is cut short.
func Record(ctx context.Context, c Config, o capture.Options) (string, error) {
	if o.Out == "" {
		dir := c.recordings()
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", fmt.Errorf("make a place for the recording: %w", err)
		}
		prune(dir, keepRecordings-1)
		o.Out = free(filepath.Join(dir, recordingName(time.Now(), o)))
	}
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
	if werr := os.WriteFile(filepath.Join(c.CacheDir, lastFile), []byte(out+"\n"), 0o644); werr != nil && err == nil {
		err = fmt.Errorf("remember the recording: %w", werr)
	}
	return out, err
}

func (c Config) recordings() string { return filepath.Join(c.CacheDir, "recordings") }

// free returns path, or with a number before its ending when the file is there already.
func free(path string) string {
	name := path
	for i := 2; ; i++ {
		if _, err := os.Lstat(name); err != nil {
			return name
		}
		name = strings.TrimSuffix(path, ".hone") + fmt.Sprintf("-%d.hone", i)
	}
}

// Find returns the path of a recording that the user named: a file, else the name
// alone of one in hone's cache.
func Find(c Config, name string) string {
	if filepath.Base(name) != name {
		return name
	}
	if _, err := os.Stat(name); err == nil {
		return name
	}
	cached := filepath.Join(c.recordings(), name)
	if _, err := os.Stat(cached); err == nil {
		return cached
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
	words := notWord.ReplaceAllString(what, "-")
	if len(words) > 40 {
		words = words[len(words)-40:]
	}
	return now.Format("20060102-150405") + "-" + strings.Trim(words, "-") + ".hone"
}

// prune removes the oldest recordings in dir until keep are left. Recordings that
// users named with -o are never here.
func prune(dir string, keep int) {
	names, _ := filepath.Glob(filepath.Join(dir, "*.hone"))
	slices.Sort(names)
	for len(names) > keep {
		os.Remove(names[0]) // best effort: the next recording tries again
		names = names[1:]
	}
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
