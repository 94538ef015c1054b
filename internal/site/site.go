package site

import (
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/profile"
)

// Input is what Join joins. Any profile may be nil; Code may not.
type Input struct {
	CPU    *profile.Profile
	Allocs *profile.Profile // delta over the CPU window
	Heap   *profile.Profile
	Block  *profile.Profile
	Mutex  *profile.Profile
	Code   *gocode.Index
	// ContentionSeconds is the length of the block and mutex window; 0 when unknown.
	ContentionSeconds float64
	// CountedObjects is how many objects the runtime counted in the window of Allocs; 0 when
	// unknown. The profile shows fewer: the runtime packs several objects of less than 16 bytes
	// without pointers into one block, and the profile counts blocks.
	CountedObjects int64
	// UsageSeconds is the CPU time that the kernel counted for the process during the CPU window; 0
	// when unknown. The difference shows whether the profile lost samples.
	UsageSeconds float64
}

// Frame is one source line on a stack, inlined calls expanded.
type Frame struct {
	Function string // as pprof prints it
	File     string // as the profile names it
	Line     int
	Inlined  bool
	Owner    gocode.Owner
}

// Row is one distinct stack of a profile with its cost; labels and addresses do not distinguish
// rows. Exactly one site, bucket or the probe owns a row, so a cost is charged once.
type Row struct {
	Stack []*Frame // leaf first; frames are shared between rows and not to be changed
	Owner int      // index in Stack of the charged frame; -1 for a row of a bucket
	Count int64    // cpu: samples; mutex, block: contentions; allocs: objects; heap: objects live
	Value int64    // cpu, mutex, block: nanoseconds; allocs, heap: bytes
	Class Class    // cpu rows: what the leaf side is doing
}

// Class is the kind of work of a CPU row, for pricing garbage collection.
type Class uint8

const (
	Work       Class = iota // ordinary
	Malloc                  // in mallocgc (or its wrappers) and below, without assists: the M term
	Assist                  // gcAssistAlloc: pooled, the A term
	MarkWorker              // gcBgMarkWorker, dedicated and fractional: the D term
	IdleMark                // idle mark workers: the I term
	Sweep                   // bgsweep, scavenger, start and end of cycle: the W term
	Probe                   // the measurement's own; rows of every profile have it
)

// Site is a source line that owns costs.
type Site struct {
	Frame
	Entry  *Frame // the main module's line that calls it (its caller in another function when Owner is Main); nil when none
	CPU    []*Row // each slice holds the rows charged to this site
	Allocs []*Row
	Live   []*Row
	Block  []*Row
	Mutex  []*Row
	Cost   Cost
}

// Cost is what a site, or any set of rows, costs.
type Cost struct {
	Samples       int64   // CPU samples charged here, without assists
	CPUSeconds    float64 // the same in seconds, M included
	MallocSeconds float64 // the M part of CPUSeconds
	GCSeconds     float64 // b(s) × (D + A + W + I)
	AllocBytes    int64
	AllocObjects  int64
	TinyBlocks    int64 // those of AllocObjects that may be blocks of several tiny objects each
	LiveBytes     int64
	BlockSeconds  float64
	MutexSeconds  float64
}

// Totals are of the whole recording, excluding the probe's own costs. TotalSeconds is CPUSeconds +
// D + A + W + I.
type Totals struct {
	Cost                  // of all sites and buckets, so without the collector's own CPU
	D, A, W, I, M float64 // seconds, see Class
	Yields        float64 // seconds of W: see sweepYields
	ProbeSeconds  float64
	ProbeBytes    int64
	CPUSamples    int64   // all, assists and GC included
	AllObjects    int64   // allocated, by the runtime's count or the profile's, whichever is more
	TotalSeconds  float64 // all CPU of the profile but the probe's
	// ContentionSeconds is the window of BlockSeconds and MutexSeconds; 0 when unknown.
	ContentionSeconds float64
}

// AtLeast reports whether a noticeable part of the objects may be blocks of several tiny objects,
// so that their number is a lower bound.
func (c Cost) AtLeast() bool { return c.TinyBlocks > 0 && c.TinyBlocks*20 >= c.AllocObjects }

// Bucket is a cost that no module's line owns: scheduler, GC, connection handling, …
type Bucket struct {
	Name    string
	Seconds float64 // CPU
	Samples int64
	Rows    []*Row // of the CPU profile
	Allocs  []*Row
	Live    []*Row
	Block   []*Row
	Mutex   []*Row
	Cost    Cost // its CPUSeconds leave out the collector's own work, as everywhere
}

// Collecting is all of the collector's work, in seconds: D + A + W + I.
func (t Totals) Collecting() float64 { return t.D + t.A + t.W + t.I }

// Table is the join of one recording.
type Table struct {
	Sites   []*Site  // most expensive first (CPU + GC seconds)
	Buckets []Bucket // most expensive first
	Totals  Totals
	Notes   []string // what limits the table, in words

	pricing pricing
}
