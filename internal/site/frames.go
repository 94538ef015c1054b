package site

import (
	"strings"

	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/target"
)

// The tables below name functions of the runtime and the standard library, as of Go 1.23 to 1.26.
// An entry also covers the function's closures, including inlined ones
// ("runtime.gcMarkDone.forEachP.func5"). Names that a version lacks are harmless.

// collecting lists the frames that make a row the collector's own work. The one nearest the leaf
// decides: a cycle may end inside an assist.
var collecting = map[string]Class{
	"runtime.gcAssistAlloc":               Assist,
	"runtime.gcBgMarkWorker":              MarkWorker,
	"runtime.gcDrainMarkWorkerDedicated":  MarkWorker,
	"runtime.gcDrainMarkWorkerFractional": MarkWorker,
	"runtime.gcDrainMarkWorkerIdle":       IdleMark,
	"runtime.bgsweep":                     Sweep,
	"runtime.bgscavenge":                  Sweep,
	"runtime.gcStart":                     Sweep,
	"runtime.gcMarkDone":                  Sweep,
	"runtime.gcMarkTermination":           Sweep,
	"runtime.gcSweep":                     Sweep,
	"runtime.forcegchelper":               Sweep,
	// The profiler's name for a stack that it could not walk while the world was stopped.
	"runtime._GC": Sweep,
}

// drainSplit lists the frames that distinguish idle marking from other marking. Go before 1.22 has
// none.
var drainSplit = map[string]bool{
	"runtime.gcDrainMarkWorkerDedicated":  true,
	"runtime.gcDrainMarkWorkerFractional": true,
	"runtime.gcDrainMarkWorkerIdle":       true,
}

// forcing lists the calls that run a collection at once. Their caller pays for it: such a
// collection follows from a line, not from bytes.
var forcing = map[string]bool{
	"runtime.GC":                 true,
	"runtime/debug.FreeOSMemory": true,
}

// allocating are the entries of the allocator, besides runtime.mallocgc and its
// variants by size (mallocgcTiny, mallocgcSmallNoScanSC4, …), which the compiler
// of Go 1.26 calls directly.
var allocating = map[string]bool{
	"runtime.newobject":   true,
	"runtime.newarray":    true,
	"runtime.makeslice":   true,
	"runtime.makeslice64": true,
}

const mallocPrefix = "runtime.mallocgc"

// Names of the buckets for finding goroutines to run, parking and waking them, and for asking the
// kernel which connections are ready.
const (
	BucketScheduler = "scheduler"
	BucketPoll      = "network poll"
)

// Names of the other buckets.
const (
	bucketAssists    = "GC: mark assists"
	bucketMark       = "GC: mark workers"
	bucketIdleMark   = "GC: idle marking"
	bucketSweep      = "GC: sweep and scavenge"
	bucketCycle      = "GC: cycle start and end"
	bucketInit       = "package initialisation"
	bucketFinalizers = "finalizers and cleanups"
	bucketHTTPServer = "net/http: connection handling"
	bucketHTTPClient = "net/http: client connections"
	bucketMalloc     = "memory allocation"
	bucketStacks     = "stack growth"
	bucketClock      = "clock reads"
	bucketNoSymbols  = "code without symbols"
	bucketRuntime    = "runtime: other"
)

// activities names the work of a row that has only runtime frames. The listed frame nearest the
// leaf decides. A name that ends in "*" is a prefix.
var activities = []struct {
	bucket string
	names  []string
}{
	{BucketPoll, []string{"runtime.netpoll", "runtime.netpollBreak", "runtime.netpollready", "runtime.netpollunblock"}},
	{bucketMalloc, []string{
		mallocPrefix + "*", "runtime.newobject", "runtime.newarray", "runtime.makeslice*", "runtime.growslice*",
		"runtime.(*mheap)*", "runtime.(*mcache)*", "runtime.(*mcentral)*",
	}},
	{bucketStacks, []string{"runtime.morestack*", "runtime.newstack", "runtime.copystack", "runtime.stackalloc", "runtime.stackfree"}},
	{bucketClock, []string{"runtime._VDSO", "runtime.nanotime*", "runtime.walltime*", "time.now", "time.runtimeNano*"}},
	{bucketNoSymbols, []string{"runtime._ExternalCode", "runtime._LostExternalCode"}},
	{BucketScheduler, []string{
		"runtime.schedule", "runtime.findRunnable", "runtime.findrunnable", "runtime.stealWork", "runtime.execute",
		"runtime.park_m", "runtime.gopark", "runtime.goschedImpl", "runtime.gosched_m", "runtime.gopreempt_m",
		"runtime.goyield_m", "runtime.goexit0", "runtime.goexit1", "runtime.gdestroy", "runtime.mcall",
		"runtime.mstart*", "runtime.mPark", "runtime.stopm", "runtime.startm", "runtime.wakep", "runtime.handoffp",
		"runtime.resetspinning", "runtime.injectglist", "runtime.ready", "runtime.goready", "runtime.newproc*",
		"runtime.sysmon", "runtime.retake", "runtime.preemptone", "runtime.preemptall",
		"runtime.exitsyscall*", "runtime.entersyscall*", "runtime.reentersyscall",
		"runtime.checkTimers*", "runtime.(*timers)*", "runtime.runqgrab", "runtime.runqsteal", "runtime.runqget",
		"runtime.notesleep", "runtime.notetsleep*", "runtime.notewakeup", "runtime.futex*", "runtime.sema*", "runtime.usleep*",
		"runtime.osyield*", "runtime.lock2", "runtime.unlock2", "runtime.procyield*",
	}},
}

// servers lists the net/http types whose goroutines serve connections. Every other goroutine that
// net/http starts belongs to a client.
var servers = []string{
	"net/http.(*conn).", "net/http.(*connReader).", "net/http.(*Server).", "net/http.(*http2server",
	"net/http.(*http2Server", "net/http/internal/http2.(*Server", "net/http/internal/http2.(*server",
}

// trait is what the tables and the code index know of one function.
type trait struct {
	function
	id         uint32
	owner      gocode.Owner
	base       string // the function without closures and type arguments
	class      Class  // from collecting; Work when none
	activity   string // from activities; "" when none
	split      bool   // drainSplit
	forces     bool   // forcing
	allocates  bool   // allocating
	module     bool   // of the main module or a dependency, so its line can be charged
	runtime    bool   // of the runtime or below it, or generated: does not show whose work it is
	foreign    bool   // C, or without a symbol
	initialise bool   // runs package initialisers
	finalise   bool   // runs finalizers or cleanups
	probe      bool   // of hone's probe
	endpoint   bool   // of net/http/pprof, which serves profiles
	collector  bool   // of runtime/pprof or runtime/trace, whose goroutines collect
}

func newTrait(f function, owner gocode.Owner) *trait {
	t := &trait{function: f, owner: owner, base: baseName(f.name), probe: target.IsProbeFile(baseOf(f.file))}
	if generated(f.file) {
		t.runtime = true
		return t
	}
	// A Go symbol contains its package. The Go line that calls C is the one to charge.
	t.foreign = owner.Kind == gocode.Unknown || !strings.Contains(f.name, ".")
	t.module = !t.foreign && owner.Kind != gocode.Std
	if t.foreign || t.module {
		return t
	}
	t.class = collecting[t.base]
	t.split = drainSplit[t.base]
	t.forces = forcing[t.base]
	t.allocates = allocating[t.base] || strings.HasPrefix(t.base, mallocPrefix)
	t.initialise = t.base == "runtime.doInit" || t.base == "runtime.doInit1"
	t.finalise = t.base == "runtime.runfinq" || t.base == "runtime.runFinalizers" || t.base == "runtime.runCleanups"
	pkg := packageOf(t)
	t.runtime = runtimePackage(pkg)
	t.endpoint = pkg == "net/http/pprof"
	t.collector = pkg == "runtime/pprof" || pkg == "runtime/trace"
	if t.runtime {
		t.activity = activity(t.base)
	}
	return t
}

// generated reports whether the go command or the compiler wrote a file: method wrappers, a test
// binary's main, calls of C. Nobody can change its lines, so their callers are charged.
func generated(file string) bool {
	switch baseOf(file) {
	case "<autogenerated>", "_testmain.go", "_cgo_gotypes.go":
		return true
	}
	return false
}

// runtimePackage reports whether a package is part of the runtime's machinery, whose frames do not
// show for whom the runtime works.
func runtimePackage(pkg string) bool {
	return pkg == "runtime" || pkg == "sync/atomic" || strings.HasPrefix(pkg, "internal/") || strings.HasPrefix(pkg, "runtime/internal/")
}

func activity(base string) string {
	for _, a := range activities {
		for _, name := range a.names {
			if matches(base, name) {
				return a.bucket
			}
		}
	}
	return ""
}

// matches reports whether a function has the given name, or has it as a prefix when the name ends
// in "*".
func matches(function, name string) bool {
	if prefix, ok := strings.CutSuffix(name, "*"); ok {
		return strings.HasPrefix(function, prefix)
	}
	return function == name
}

// packageOf returns the import path of a function's package, derived from its name when the code
// index does not know it.
func packageOf(t *trait) string {
	if t.owner.Package != "" {
		return t.owner.Package
	}
	slash := strings.LastIndexByte(t.base, '/')
	dot := strings.IndexByte(t.base[slash+1:], '.')
	if dot < 0 {
		return ""
	}
	return t.base[:slash+1+dot]
}

// baseName returns a symbol up to the end of its function or method, without
// type arguments, closures and what was inlined into them:
// "runtime.gcMarkDone.forEachP.func5" is "runtime.gcMarkDone", and
// "net/http.(*conn).serve.func1" is "net/http.(*conn).serve".
func baseName(symbol string) string {
	name := symbol
	if i := strings.IndexByte(name, '['); i >= 0 {
		name = stripTypeArguments(name)
	}
	start := strings.LastIndexByte(name, '/') + 1
	dot := strings.IndexByte(name[start:], '.')
	if dot < 0 {
		return name
	}
	start += dot + 1
	if strings.HasPrefix(name[start:], "(") {
		end := strings.Index(name[start:], ").")
		if end < 0 {
			return name
		}
		start += end + 2
	}
	if end := strings.IndexByte(name[start:], '.'); end >= 0 {
		return name[:start+end]
	}
	return strings.TrimSuffix(name, "-fm")
}

// stripTypeArguments removes bracketed text, which may hold slashes and dots.
func stripTypeArguments(name string) string {
	var b strings.Builder
	depth := 0
	for i := range len(name) {
		switch c := name[i]; {
		case c == '[':
			depth++
		case c == ']' && depth > 0:
			depth--
		case depth == 0:
			b.WriteByte(c)
		}
	}
	return b.String()
}
