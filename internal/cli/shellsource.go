package cli

import (
	"context"
	"io"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/hone-go/hone/internal/source"
	"github.com/hone-go/hone/profile/report"
)

// keptSources reads sources once. A recording is kept part by part, because different values come
// from different parts.
type keptSources struct {
	ctx   context.Context // of the shell: a source outlives the command that read it
	args  []string        // the sources for commands that do not name one
	stdin io.Reader
	kept  map[string]*source.Source
}

// manySamples is the number of samples from which on memory is released after decoding.
const manySamples = 1 << 20

// open is the openFunc of the shell's commands.
func (k *keptSources) open(ctx context.Context, o source.Opener, args []string) (*source.Source, error) {
	if len(args) == 1 && args[0] == "" {
		args = k.args
	}
	key := []string{strconv.Itoa(o.Seconds), o.From.String(), o.To.String()}
	for _, arg := range args {
		key = append(key, arg, source.PartOf(arg, o.SampleIndex))
	}
	name := strings.Join(key, "\x00")
	src, ok := k.kept[name]
	if !ok {
		var err error
		if src, err = k.read(ctx, o, args); err != nil {
			return nil, err
		}
		k.kept[name] = src
	}
	own := *src // callers store differences in it
	return &own, nil
}

// read reads sources. Reading stops with ctx, but what was read is kept.
func (k *keptSources) read(ctx context.Context, o source.Opener, args []string) (*source.Source, error) {
	reading, cancel := context.WithCancel(k.ctx)
	stop := context.AfterFunc(ctx, cancel)
	var done atomic.Bool
	if say := o.Progress; say != nil {
		// Later commands read the code of a source, with their own progress line.
		o.Progress = func(phase, text string) {
			if !done.Load() {
				say(phase, text)
			}
		}
	}
	o.Stdin = k.stdin
	src, err := o.Profile(reading, args...)
	done.Store(true)
	if err != nil || !stop() {
		cancel()
		if err == nil {
			err = ctx.Err()
		}
		return nil, err
	}
	context.AfterFunc(k.ctx, cancel)
	src.Reports = report.NewCache(src.Profile)
	if src.Profile.NumSamples() > manySamples { // more is garbage than what reports will allocate
		debug.FreeOSMemory()
	}
	return src, nil
}
