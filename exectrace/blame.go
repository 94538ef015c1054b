package exectrace

import (
	"cmp"
	"fmt"
	"github.com/hone-go/hone/profile/symbol"
	"path"
	"strings"
)

// Line is a position in the code, as reports name it.
type Line struct {
	Function string `json:"function"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
}

// String returns the line with the last two elements of its file: "shop/cart.go:41". For a line
// without a file it returns the function.
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

// At returns the position of the frame.
func (f Frame) At() Line { return Line{Function: f.Func, File: f.File, Line: f.Line} }

// Blame returns the line of a stack that a reader can change: that of the frame nearest the leaf
// outside the standard library. If all frames are in the standard library, it is the first frame
// outside the runtime and the packages between it and the library. For the runtime's own goroutines
// it is the function that they were started with: runtime.gcBgMarkWorker says more than
// runtime.systemstack_switch. The zero Line means a stack without frames.
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

// Caller returns the line of the main module that called the line that Blame returns, if that line
// is in a module that the program depends on; else the zero Line.
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

// Downloaded reports whether a line is in a module that the program depends on: its directory in
// the module cache has a version, also with -trimpath (https://go.dev/ref/mod#module-cache), or it
// is in a vendor directory.
func (l Line) Downloaded() bool {
	file := strings.ReplaceAll(l.File, `\`, "/")
	return strings.Contains(file, "@v") || strings.Contains(file, "/vendor/")
}

// cgoFile is the file that cgo generates for each package that calls C. It has functions such as
// main._Cfunc_usleep, which nobody wrote.
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

// root returns the index of the function that a stack's goroutine was started with; -1 without
// frames. On a thread of C that calls into Go it is the exported function, and for a goroutine of
// [Trace.Wraps] the function that was passed to the wrapper.
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

// Wraps reports whether the goroutine of a stack was started by a function that takes the function
// to run: sync.WaitGroup.Go, or Go of an errgroup. All such goroutines start with the same closure,
// which says nothing about the program.
func (t *Trace) Wraps(s StackID) bool {
	frames := t.Frames(s)
	last := outermost(frames)
	return last >= 0 && IsWrapper(frames[last].Func)
}

// IsWrapper reports whether goroutines that start with a function are those of [Trace.Wraps].
func IsWrapper(function string) bool {
	name, _, ok := strings.Cut(function, ".func")
	return ok && starts(name)
}

// starts reports whether a function starts a goroutine that runs its argument.
func starts(function string) bool {
	return function == "sync.(*WaitGroup).Go" || strings.Contains(function, "golang.org/x/sync/errgroup.(*Group).")
}

// outermost returns the index of a stack's last frame, not counting runtime.goexit, to which every
// goroutine returns.
func outermost(frames []Frame) int {
	last := len(frames) - 1
	for last > 0 && frames[last].Func == "runtime.goexit" {
		last--
	}
	return last
}

// OfRuntime reports whether a goroutine with this stack belongs to the runtime (such as a worker of
// the garbage collector or the tracer's reader) or to hone's probe. Unlike
// runtime.isSystemGoroutine (runtime/traceback.go), it returns false for the goroutines that run
// finalizers and cleanups: these run the program's code.
func (t *Trace) OfRuntime(s StackID) bool {
	root := t.Root(s)
	switch root.Function {
	case "runtime.runFinalizers", "runtime.runCleanups", "runtime.runfinq": // runfinq: before Go 1.25
		return false
	}
	return root.OfRuntime()
}

// FromC reports whether a stack is that of a thread of C that calls into Go.
func (t *Trace) FromC(s StackID) bool {
	frames := t.Frames(s)
	last := outermost(frames)
	return last >= 0 && fromC(frames[last].Func)
}

// fromC reports whether a function is between C and the Go function that it calls
// (runtime/cgocall.go, cmd/cgo; on Windows runtime/syscall_windows.go).
func fromC(function string) bool {
	switch function {
	case "runtime.cgocallback", "runtime.cgocallbackg", "runtime.cgocallbackg1", "runtime.callbackWrap":
		return true
	}
	return strings.HasPrefix(function, "_cgoexp_")
}

// Direct reports whether the line that Blame returns causes the event itself: only frames of the
// runtime, sync, syscall and internal packages are between it and the event.
func (t *Trace) Direct(s StackID) bool {
	frames := t.Frames(s)
	for i := range frames {
		if l := frames[i].At(); !plumbing(l) {
			return !l.Standard()
		}
	}
	return false
}

// plumbing reports whether a line is between a library function and the scheduler: it is in one of
// some packages, or its body is in the runtime.
func plumbing(l Line) bool {
	pkg := symbol.Package(l.Function)
	if l.Standard() && linked(path.Dir(l.File)) {
		return true
	}
	return pkg == "runtime" || pkg == "sync" || pkg == "syscall" || strings.HasPrefix(pkg, "internal/") || strings.HasPrefix(pkg, "runtime/internal/")
}

// InCollector reports whether the leaf of a stack (frames leaf first) is the runtime working on a
// garbage collection.
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

// Root returns the function that a stack's goroutine was started with: the frame nearest the root.
// For the main goroutine that is main.main, whichever function runtime.main is calling: it also
// initialises packages and runs exit hooks. Without a frame of main.main the Line has no file and
// number. For the goroutines of coroutines, which only package iter creates, it is iter.Pull.
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
	case "runtime.doInit1", "internal/runtime/exithook.Run": // the tracer leaves out their callers
		return Line{Function: "main.main"}
	}
	return frames[last].At()
}

// rootFrames returns the frames that identify the start of a stack's goroutine: one frame, or
// main.main and its caller.
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

// Standard reports whether the line belongs to the standard library or the runtime. Both its symbol
// and its file must: a user's package "net" is not standard. For an assembly function without a
// package (memeqbody) the file alone decides.
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

// OfProbe reports whether the line is in a file that hone adds to a program to observe it.
func (l Line) OfProbe() bool {
	file := strings.ReplaceAll(l.File, `\`, "/")
	return strings.HasPrefix(file[strings.LastIndexByte(file, '/')+1:], "0hone_probe")
}

// OfRuntime reports whether the line is in package runtime or a package below it, or in hone's
// probe.
func (l Line) OfRuntime() bool {
	return l.OfProbe() || (strings.HasPrefix(l.Function, "runtime.") || strings.HasPrefix(l.Function, "runtime/")) && l.Standard()
}

// belowSrc returns the part of a directory below Go's src, or the whole directory if the program
// was built with -trimpath.
func belowSrc(dir string) string {
	if i := strings.LastIndex(dir, "/src/"); i >= 0 {
		return dir[i+len("/src/"):]
	}
	return dir
}

// linked reports whether a directory belongs to the runtime and so may contain functions that are
// linked by name into other packages, such as time.Sleep in runtime/time.go. With -trimpath,
// nothing is before "runtime".
func linked(dir string) bool {
	dir = belowSrc(dir)
	return dir == "runtime" || strings.HasPrefix(dir, "internal/runtime/")
}

// Standard reports whether a frame belongs to the standard library or the runtime.
func (f Frame) Standard() bool { return f.At().Standard() }
