package cli

import (
	"context"
	"io"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/session"
)

// keptSources reads sources once. A recording is kept part by part, as values
// are asked for that are in one part or another.
type keptSources struct {
	ctx   context.Context // of the shell: a source lives on when the command that read it ends
	args  []string        // what a command reads that names no source
	stdin io.Reader
	kept  map[string]*session.Source
}

// open is the openFunc of the shell's commands.
func (k *keptSources) open(ctx context.Context, c session.Config, args []string, _ io.Reader, o session.SourceOptions) (*session.Source, error) {
	if len(args) == 1 && args[0] == "" {
		args = k.args
	}
	key := []string{strconv.Itoa(o.Seconds)}
	for _, arg := range args {
		key = append(key, arg, session.PartOf(arg, o.SampleIndex))
	}
	name := strings.Join(key, "\x00")
	src, ok := k.kept[name]
	if !ok {
		var err error
		if src, err = k.read(ctx, c, args, o); err != nil {
			return nil, err
		}
		k.kept[name] = src
	}
	own := *src // callers put their differences into it
	return &own, nil
}

// read reads sources. It ends with ctx, but what was read does not.
func (k *keptSources) read(ctx context.Context, c session.Config, args []string, o session.SourceOptions) (*session.Source, error) {
	reading, cancel := context.WithCancel(k.ctx)
	stop := context.AfterFunc(ctx, cancel)
	var done atomic.Bool
	if tell := c.Progress; tell != nil {
		// The code behind a source is read when it is asked for, by a later command with a line of its own.
		c.Progress = func(e capture.Event) {
			if !done.Load() {
				tell(e)
			}
		}
	}
	src, err := session.OpenSources(reading, c, args, k.stdin, o)
	done.Store(true)
	if err != nil || !stop() {
		cancel()
		if err == nil {
			err = ctx.Err()
		}
		return nil, err
	}
	context.AfterFunc(k.ctx, cancel)
	return src, nil
}
