package gocode

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Kind is whose code a frame belongs to.
type Kind uint8

const (
	Unknown    Kind = iota // cgo, assembly without a file, stripped
	Main                   // the main module, or a module of the workspace
	Dependency             // another module
	Std                    // GOROOT
)

func (k Kind) String() string {
	switch k {
	case Main:
		return "main"
	case Dependency:
		return "dependency"
	case Std:
		return "std"
	}
	return "unknown"
}

// Owner is who owns a frame. The package comes from the file, not from the symbol: an inlined
// closure keeps its caller's name.
type Owner struct {
	Kind    Kind
	Module  string // "github.com/go-chi/chi"; "" for Std
	Version string // "v3.3.4"; "" for Main, Std and modules replaced by a directory
	Package string // import path as far as it is known
	File    string // relative to the module's root ("middleware/compress.go"); for Std to GOROOT/src
}

// Config selects the program whose code to look at. Everything may be empty: then owners and
// sources are inferred from the frames' paths.
type Config struct {
	Dir        string   // of the target's package
	ImportPath string   // of the target's package
	Test       bool     // its test binary
	BuildFlags []string // the user's; of a recording's, HarmlessFlags
	BuildInfo  string   // text of debug.BuildInfo of the binary
	CacheDir   string   // hone's cache, for compiler facts
	Progress   func(string)

	GoCommand string    // the go command; "" = "go" in PATH
	Built     time.Time // when the binary was built or the recording made; zero when unknown
}

// Index answers questions about the code of one program. Safe for concurrent use.
type Index struct {
	ctx  context.Context
	cfg  Config
	info *debug.BuildInfo // nil when unknown
	mods modules          // from info

	env   lazy[goEnv]
	deps  lazy[*listing]
	pgo   lazy[struct{}]
	mu    sync.RWMutex
	own   map[ownerKey]Owner
	where map[string]located
	text  map[string][]string // lines by local path; small, emptied when full
	moved map[string]string   // by fileKey, why the source here is not that of the build

	silent atomic.Bool // the module proxy did not answer in time

	noteMu sync.Mutex
	notes  []string
}

// lazy is a value that is computed at most once, when it is first needed.
type lazy[T any] struct {
	once  sync.Once
	value T
}

func (l *lazy[T]) get(f func() T) T {
	l.once.Do(func() { l.value = f() })
	return l.value
}

// Open prepares an index. It runs `go list` at most once and lazily. Without a Go toolchain or
// sources it still answers what the paths alone show, and Notes says what is missing. Lazy work is
// bound to ctx, so ctx has to live as long as the index is used.
func Open(ctx context.Context, c Config) (*Index, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	x := &Index{
		ctx:   ctx,
		cfg:   c,
		own:   map[ownerKey]Owner{},
		where: map[string]located{},
		text:  map[string][]string{},
		moved: map[string]string{},
	}
	if x.cfg.GoCommand == "" {
		x.cfg.GoCommand = "go"
	}
	if c.Dir != "" {
		dir, err := filepath.Abs(c.Dir)
		if err != nil {
			return nil, fmt.Errorf("open code index: %w", err)
		}
		x.cfg.Dir = dir
	}
	if strings.TrimSpace(c.BuildInfo) != "" {
		info, err := parseBuildInfo(c.BuildInfo)
		if err != nil {
			x.note("the binary's build info cannot be read (" + err.Error() + "): owners are inferred from paths")
		} else {
			x.info = info
			x.mods = newModules(info, x.note)
		}
	}
	return x, nil
}

// Notes lists what is not available and why.
func (x *Index) Notes() []string {
	x.noteMu.Lock()
	defer x.noteMu.Unlock()
	return append([]string(nil), x.notes...)
}

// Note adds something that is not available, to be listed by Notes.
func (x *Index) Note(s string) { x.note(s) }

func (x *Index) note(s string) {
	x.noteMu.Lock()
	defer x.noteMu.Unlock()
	for _, n := range x.notes {
		if n == s {
			return
		}
	}
	x.notes = append(x.notes, s)
}

// few names the first of n packages, for progress.
func few(first string, n int) string {
	if n == 1 {
		return first
	}
	return fmt.Sprintf("%s and %d more", first, n-1)
}

func (x *Index) progress(s string) {
	if x.cfg.Progress != nil {
		x.cfg.Progress(s)
	}
}
