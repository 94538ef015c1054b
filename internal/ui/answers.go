package ui

import (
	"bytes"
	"container/list"
	"context"
	"io"
	"os"
	"strings"
	"sync"
)

// most is the number of bytes of answers that are kept, the most recent ones. A larger answer is
// not kept.
const most = 16 << 20

// answers caches the output of commands. Sources do not change; a file that did has a different
// size or time.
type answers struct {
	running sync.Mutex // one command at a time: each uses all processors, and memory
	mu      sync.Mutex
	known   map[string]*list.Element
	order   *list.List // of *answer, most recent first
	bytes   int
}

type answer struct {
	key  string
	data []byte
}

func newAnswers() *answers { return &answers{known: map[string]*list.Element{}, order: list.New()} }

// get returns the output of a command.
func (a *answers) get(ctx context.Context, args []string, run func(context.Context, io.Writer, ...string) error) ([]byte, error) {
	key := keyOf(args)
	if data, ok := a.look(key); ok {
		return data, nil
	}
	a.running.Lock()
	defer a.running.Unlock()
	if data, ok := a.look(key); ok { // another request has computed it
		return data, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err // the page was closed
	}
	var out bytes.Buffer
	if err := run(ctx, &out, args...); err != nil {
		return nil, err
	}
	data := bytes.Clone(out.Bytes()) // without the buffer's unused half
	a.keep(key, data)
	return data, nil
}

// compute returns the output of a command whose source may change without another size or time of
// its file, such as a database.
func (a *answers) compute(ctx context.Context, args []string, run func(context.Context, io.Writer, ...string) error) ([]byte, error) {
	a.running.Lock()
	defer a.running.Unlock()
	var out bytes.Buffer
	err := run(ctx, &out, args...)
	return out.Bytes(), err
}

// keyOf returns the command line with the size and time of the files in it.
func keyOf(args []string) string {
	var key strings.Builder
	for _, arg := range args {
		key.WriteString(arg + "\x00")
		name := arg
		if _, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-") { // -diff_base=rec.hone
			name = value
		}
		for { // rec.hone:heap
			if info, err := os.Stat(name); err == nil {
				key.WriteString(info.ModTime().String() + "\x00")
				break
			}
			i := strings.LastIndexByte(name, ':')
			if i < 0 {
				break
			}
			name = name[:i]
		}
	}
	return key.String()
}

func (a *answers) look(key string) ([]byte, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	e, ok := a.known[key]
	if !ok {
		return nil, false
	}
	a.order.MoveToFront(e)
	return e.Value.(*answer).data, true
}

func (a *answers) keep(key string, data []byte) {
	if len(data) > most {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.known[key] = a.order.PushFront(&answer{key, data})
	a.bytes += len(data)
	for a.bytes > most {
		e := a.order.Back()
		old := e.Value.(*answer)
		a.order.Remove(e)
		delete(a.known, old.key)
		a.bytes -= len(old.data)
	}
}
