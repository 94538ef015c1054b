package analysis

import (
	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/gc"
	"github.com/hone-go/hone/exectrace/parallelism"
	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/exectrace/wall"
)

// Results are the results of the analyses, computed once.
type Results struct {
	Info        exectrace.Info
	Goroutines  *wall.Goroutines
	Spawns      []wall.Spawn
	Blocking    *wall.Blocking
	Sched       *wall.Sched
	Syscalls    *wall.Syscalls
	Parallelism *parallelism.Result
	GC          *gc.Result
	Requests    *requests.Result
	Remarks     []Remark
}

// Results computes all results.
func (s *Set) Results() *Results {
	r := &Results{
		Info:        s.trace.Info(),
		Goroutines:  s.Wall.Goroutines(),
		Spawns:      s.Wall.Spawns(),
		Blocking:    s.Wall.Blocking(),
		Sched:       s.Wall.Sched(),
		Syscalls:    s.Wall.Syscalls(),
		Parallelism: s.Parallelism.Result(),
		GC:          s.GC.Result(),
		Requests:    s.Requests.Result(),
	}
	r.Remarks = r.remarks()
	return r
}
