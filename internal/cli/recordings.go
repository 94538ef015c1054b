package cli

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/render"
	"github.com/hone-go/hone/internal/shelf"
)

// Environment variables that limit the recordings in the cache.
const (
	cacheSizeVariable = "HONE_CACHE_SIZE"
	cacheAgeVariable  = "HONE_CACHE_AGE"
)

const recordingsHelp = `Without -o a recording is kept in hone's cache. REC is its file name, with or without .hone,
or its label; every command that takes a recording takes these: hone compare baseline after.hone.

  hone recordings                    list them, latest first
  hone recordings label REC NAME     give REC the name NAME; hone keeps it until you remove it
  hone recordings unlabel REC        remove the label
  hone recordings remove REC...      remove recordings

Before a new recording is created, hone removes recordings without a label that are older than 30 days, and
then the oldest until the rest takes at most 2 GiB. It keeps the latest five, and reports what it removes.
HONE_CACHE_AGE (720h, 90d) and HONE_CACHE_SIZE (500MiB, 10GiB) set other limits, 0 sets none.`

func recordingsCommand() command {
	return command{
		name: "recordings", args: "[label|unlabel|remove REC...]", group: "the main job",
		short: "list, label and remove the recordings in hone's cache",
		long:  recordingsHelp,
		examples: []string{
			"hone recordings",
			"hone recordings label 20261123-101500-server baseline",
			"hone recordings remove baseline",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			var out outputFlags
			out.declare(fs, "")
			return func(_ context.Context, env Env, args, _ []string) error {
				cfg, _, err := out.session(env)
				if err != nil {
					return err
				}
				changed, err := changeRecordings(cfg.Shelf(), args)
				if err != nil {
					return err
				}
				list := changed
				if len(args) == 0 {
					if list, err = cfg.Shelf().List(); err != nil {
						return err
					}
				}
				page := render.NewRecordings(list, func(path string) string {
					m, err := cfg.Opener().Manifest(path)
					if err != nil {
						return "" // list the file even if it cannot be read
					}
					return m.Target.Name()
				})
				if out.json {
					return render.JSON(env.Stdout, page)
				}
				return buffered(env.Stdout, func(w io.Writer) error {
					render.Recordings(w, page, len(args) > 0 && args[0] == "remove", out.style(env))
					return nil
				})
			}
		},
	}
}

// changeRecordings runs the subcommand in words, and returns the recordings that it changed.
func changeRecordings(s shelf.Shelf, words []string) ([]shelf.Entry, error) {
	if len(words) == 0 {
		return nil, nil
	}
	verb, names := words[0], words[1:]
	var out []shelf.Entry
	one := func(e shelf.Entry, err error) ([]shelf.Entry, error) { return append(out, e), err }
	switch {
	case verb == "label" && len(names) == 2:
		return one(s.Label(names[0], names[1]))
	case verb == "unlabel" && len(names) == 1:
		return one(s.Label(names[0], ""))
	case verb == "remove" && len(names) > 0:
		for _, name := range names {
			e, err := s.Remove(name)
			if err != nil {
				return out, err
			}
			out = append(out, e)
		}
		return out, nil
	case verb == "label":
		return nil, usagef("recordings: label takes a recording and a name for it: hone recordings label REC NAME")
	case verb == "unlabel" || verb == "remove":
		return nil, usagef("recordings: %s takes a recording: hone recordings %s REC", verb, verb)
	}
	return nil, usagef("recordings: no %q%s; there are label, unlabel and remove", verb, suggest(verb, []string{"label", "unlabel", "remove"}))
}

// cacheLimits reads the limits of the cache from the environment.
func cacheLimits(getenv func(string) string) (shelf.Limits, error) {
	limits := shelf.DefaultLimits
	if text := getenv(cacheSizeVariable); text != "" {
		n, err := parseSize(text)
		if err != nil {
			return limits, fmt.Errorf("%s=%s: %w", cacheSizeVariable, text, err)
		}
		limits.Bytes = n
	}
	if text := getenv(cacheAgeVariable); text != "" {
		d, err := parseAge(text)
		if err != nil {
			return limits, fmt.Errorf("%s=%s: %w", cacheAgeVariable, text, err)
		}
		limits.Age = d
	}
	return limits, nil
}

// parseSize parses a number of bytes as GOMEMLIMIT does: 500MiB, 2GiB, 1048576.
func parseSize(text string) (int64, error) {
	number, factor := text, int64(1)
	for unit, f := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40} {
		if n, ok := strings.CutSuffix(text, unit); ok {
			number, factor = n, f
		}
	}
	n, err := strconv.ParseInt(strings.TrimSuffix(number, "B"), 10, 64)
	if err != nil || n < 0 || n > (1<<62)/factor {
		return 0, fmt.Errorf("not a size; write 500MiB or 2GiB, 0 for no limit")
	}
	return n * factor, nil
}

// parseAge parses a duration, also in days: 720h, 30d.
func parseAge(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n < 100_000 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	if text == "0" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("not an age; write 720h or 30d, 0 for no limit")
	}
	return d, nil
}
