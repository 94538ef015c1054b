package recording

// Names of runtime/metrics that are in [PartMetrics] and that more than one package reads. Those in
// bytes and cycles are current values or counts since the program's start. CPU classes are in
// seconds since then, estimated by the runtime at the end of each collection.
const (
	MetricAllocBytes   = "/gc/heap/allocs:bytes"
	MetricGoroutines   = "/sched/goroutines:goroutines"
	MetricAllocObjects = "/gc/heap/allocs:objects"
	MetricTinyObjects  = "/gc/heap/tiny/allocs:objects" // those put into a block that the other counts once
	MetricLive         = "/gc/heap/live:bytes"
	MetricGoal         = "/gc/heap/goal:bytes"
	MetricCycles       = "/gc/cycles/total:gc-cycles"
	MetricGOGC         = "/gc/gogc:percent"
	MetricTotal        = "/memory/classes/total:bytes"
	MetricReleased     = "/memory/classes/heap/released:bytes"
	MetricCPU          = "/cpu/classes/total:cpu-seconds" // GOMAXPROCS × wall time, including idle time
	MetricCPUIdle      = "/cpu/classes/idle:cpu-seconds"
	MetricCPUGC        = "/cpu/classes/gc/total:cpu-seconds"
	MetricLockWait     = "/sync/mutex/wait/total:seconds"        // for which goroutines waited for locks, all added up
	MetricCPUGCIdle    = "/cpu/classes/gc/mark/idle:cpu-seconds" // a part of both GC and what was free
)
