package exectrace

import (
	"cmp"
	"fmt"
	"github.com/hone-go/hone/profile/symbol"
	"path"
	"strings"
)

// Line is a place in the code, as reports name it.
type Line struct {
	Function string `json:"function"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
}

// String names the line by the last two elements of its file: "shop/cart.go:41". A
// line without a file is its function.
func (l Line) String() string {
	if l.File == "" {
		return l.Function
	}
	dir, file := path.Split(l.File)
	if dir = path.Base(dir); dir != "." && dir != "/" {
		file = dir + "/" + file
	}
	return fmt.Sprintf("%s:%d", file, l.Line)
}

// Compare orders lines by file, number and function.
func (l Line) Compare(m Line) int {
	return cmp.Or(cmp.Compare(l.File, m.File), cmp.Compare(l.Line, m.Line), cmp.Compare(l.Function, m.Function))
}

// At is where the frame is.
func (f Frame) At() Line { return Line{Function: f.Func, File: f.File, Line: f.Line} }

// Blame returns the line of a stack that its reader can do something about: the frame nearest
// to the leaf that is outside the standard library. A stack that has none is blamed on
// its first frame outside the runtime and what serves it, or, of the runtime's own goroutines, on what was
// started: runtime.gcBgMarkWorker says more than runtime.systemstack_switch. The zero Line is a stack
// without frames.
func (t *Trace) Blame(s StackID) Line {
	l, ok := t.blamed[s]
	if !ok {
		l = blame(t.Frames(s))
		if len(t.blamed) > maxCached || t.blamed == nil {
			t.blamed = map[StackID]Line{}
		}
		t.blamed[s] = l
	}
	return l
}

// Caller returns the line of the program's own code from which the line that a stack is blamed on was called, when
// that is of a module that the program depends on; else the zero Line.
func (t *Trace) Caller(s StackID) Line { return caller(t.Frames(s)) }

func caller(frames []Frame) Line {
	inModule := false
	for _, f := range frames {
		l := f.At()
		switch {
		case l.Standard() || path.Base(l.File) == cgoFile:
		case l.Downloaded():
			inModule = true
		case inModule:
			return l
		default:
			return Line{}
		}
	}
	return Line{}
}

// Downloaded reports whether a line is of a module that the program depends on: its directory in the module cache has a
// version, and so it has with -trimpath (https://go.dev/ref/mod#module-cache), or it is in a folder of vendored ones.
func (l Line) Downloaded() bool {
	file := strings.ReplaceAll(l.File, `\`, "/")
	return strings.Contains(file, "@v") || strings.Contains(file, "/vendor/")
}

// cgoFile is what cgo writes for each package that calls C: main._Cfunc_usleep stands there, which nobody wrote.
const cgoFile = "_cgo_gotypes.go"

func blame(frames []Frame) Line {
	if len(frames) == 0 {
		return Line{}
	}
	library := -1
	for i := range frames {
		l := frames[i].At()
		if path.Base(l.File) == cgoFile {
			continue
		}
		if !l.Standard() {
			return l
		}
		if library < 0 && !plumbing(l) {
			library = i
		}
	}
	if library < 0 {
		library = root(frames)
	}
	return frames[library].At()
}

// root is the place of the function that a stack's goroutine was started with; -1 without frames. Of a thread of C
// that calls into Go it is the exported function, and below [Trace.Wraps] what was given.
func root(frames []Frame) int {
	last := outermost(frames)
	if last > 0 && IsWrapper(frames[last].Func) {
		if given := frames[last-1].At(); !plumbing(given) && !starts(given.Function) {
			return last - 1
		}
	}
	for at := last; at >= 0; at-- {
		if !fromC(frames[at].Func) {
			return at
		}
	}
	return last
}

// Wraps reports whether the goroutine of a stack was started by a function that is given what to do: sync.WaitGroup.Go, or Go
// of an errgroup. All such goroutines start with the same closure, which says nothing.
func (t *Trace) Wraps(s StackID) bool {
	frames := t.Frames(s)
	last := outermost(frames)
	return last >= 0 && IsWrapper(frames[last].Func)
}

// IsWrapper reports whether goroutines that begin with a function are those of [Trace.Wraps].
func IsWrapper(function string) bool {
	name, _, ok := strings.Cut(function, ".func")
	return ok && starts(name)
}

// starts reports whether a function starts a goroutine for the one that it is given.
func starts(function string) bool {
	return function == "sync.(*WaitGroup).Go" || strings.Contains(function, "golang.org/x/sync/errgroup.(*Group).")
}

// outermost is the place of a stack's last frame, but for the one that every goroutine returns to.
func outermost(frames []Frame) int {
	last := len(frames) - 1
	for last > 0 && frames[last].Func == "runtime.goexit" {
		last--
	}
	return last
}

// OfRuntime reports whether a goroutine with this stack is the runtime's own, a worker of the collector, the tracer's
// reader, or one of hone's probe. Those that call finalizers and cleanups are not, as runtime.isSystemGoroutine has it (runtime/traceback.go):
// what they do is the program's.
func (t *Trace) OfRuntime(s StackID) bool {
	root := t.Root(s)
	switch root.Function {
	case "runtime.runFinalizers", "runtime.runCleanups", "runtime.runfinq": // the last: before Go 1.25
		return false
	}
	return root.OfRuntime()
}

// FromC reports whether a stack is of a thread of C that calls into Go.
func (t *Trace) FromC(s StackID) bool {
	frames := t.Frames(s)
	last := outermost(frames)
	return last >= 0 && fromC(frames[last].Func)
}

// fromC reports the functions that stand between C and the Go function that it calls (runtime/cgocall.go, cmd/cgo;
// on Windows runtime/syscall_windows.go).
func fromC(function string) bool {
	switch function {
	case "runtime.cgocallback", "runtime.cgocallbackg", "runtime.cgocallbackg1", "runtime.callbackWrap":
		return true
	}
	return strings.HasPrefix(function, "_cgoexp_")
}

// Direct reports whether the line that a stack is blamed on did itself what the event says: nothing
// but the runtime and sync is between.
func (t *Trace) Direct(s StackID) bool {
	frames := t.Frames(s)
	for i := range frames {
		if l := frames[i].At(); !plumbing(l) {
			return !l.Standard()
		}
	}
	return false
}

// plumbing reports what stands between a library function and the scheduler: some packages, and what of others
// is in the runtime.
func plumbing(l Line) bool {
	pkg := symbol.Package(l.Function)
	if l.Standard() && linked(path.Dir(l.File)) {
		return true
	}
	return pkg == "runtime" || pkg == "sync" || pkg == "syscall" || strings.HasPrefix(pkg, "internal/") || strings.HasPrefix(pkg, "runtime/internal/")
}

// InCollector reports whether the runtime, where a stack ends (its frames leaf first), works on a collection.
func InCollector(frames []Frame) bool {
	for i := range frames {
		switch f := frames[i].Func; {
		case f == "runtime.gcMarkDone", f == "runtime.gcStart", f == "runtime.gcAssistAlloc":
			return true
		case !strings.HasPrefix(f, "runtime."):
			return false
		}
	}
	return false
}

// Root returns the function that a stack's goroutine was started with: the frame
// nearest to the root. For the main goroutine that is main.main, whatever the
// runtime's function that calls it is at: packages are initialised and exit hooks run
// on it too, and without a frame of main.main itself there is no line. The goroutines of coroutines, of which nobody
// but package iter makes any, are iter.Pull.
func (t *Trace) Root(s StackID) Line {
	frames := t.Frames(s)
	last := root(frames)
	if last < 0 {
		return Line{}
	}
	switch frames[last].Func {
	case "runtime.main":
		if last > 0 && frames[last-1].Func == "main.main" {
			return frames[last-1].At()
		}
		return Line{Function: "main.main"}
	case "runtime.corostart":
		return Line{Function: "iter.Pull"}
	case "runtime.doInit1", "internal/runtime/exithook.Run": // the tracer leaves out the functions that call them
		return Line{Function: "main.main"}
	}
	return frames[last].At()
}

// rootFrames is what of a stack its goroutine was started with: one frame, or main.main with the one that calls it.
func rootFrames(frames []Frame) []Frame {
	last := root(frames)
	if last < 0 {
		return nil
	}
	from := last
	if last > 0 && frames[last].Func == "runtime.main" && frames[last-1].Func == "main.main" {
		from--
	}
	return frames[from : last+1]
}

// Standard reports whether the line is of the standard library or the runtime. Both
// its symbol and its file must say so: a user's package "net" is not. A function without a package is
// written in assembly (memeqbody): its file alone tells.
func (l Line) Standard() bool {
	pkg := symbol.Package(l.Function)
	file := strings.ReplaceAll(l.File, `\`, "/")
	slash := strings.LastIndexByte(file, '/')
	if pkg == l.Function && strings.HasSuffix(file, ".s") {
		return symbol.Standard(belowSrc(file[:max(slash, 0)]))
	}
	if !symbol.Standard(pkg) {
		return false
	}
	if slash < 0 {
		return true
	}
	dir := file[:slash]
	before, ok := strings.CutSuffix(dir, pkg)
	return ok && (before == "" || strings.HasSuffix(before, "/src/")) || linked(dir)
}

// OfProbe reports whether the line is in a file that hone puts beside a program to observe it.
func (l Line) OfProbe() bool {
	file := strings.ReplaceAll(l.File, `\`, "/")
	return strings.HasPrefix(file[strings.LastIndexByte(file, '/')+1:], "0hone_probe")
}

// OfRuntime reports whether the line is of package runtime or of those below it, or of hone's probe: not the program's.
func (l Line) OfRuntime() bool {
	return l.OfProbe() || (strings.HasPrefix(l.Function, "runtime.") || strings.HasPrefix(l.Function, "runtime/")) && l.Standard()
}

// belowSrc is what of a directory is below Go's own src; all of it in a program that was built with -trimpath.
func belowSrc(dir string) string {
	if i := strings.LastIndex(dir, "/src/"); i >= 0 {
		return dir[i+len("/src/"):]
	}
	return dir
}

// linked reports whether a directory is one of the runtime's, where the bodies of functions of other packages stand that are linked
// to theirs by name: time.Sleep in runtime/time.go. -trimpath leaves nothing before it.
func linked(dir string) bool {
	dir = belowSrc(dir)
	return dir == "runtime" || strings.HasPrefix(dir, "internal/runtime/")
}

// Standard reports whether a frame is of the standard library or the runtime.
func (f Frame) Standard() bool { return f.At().Standard() }
