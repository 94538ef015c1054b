package diagnose

import (
	"math"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/stats"
)

// A message costs CPU where it is sent and where it is received. If both ends of the connection are
// in one process, as in tests and in programs that embed a server, a fix that sends fewer messages
// saves at the receiver, too. The profile does not join the ends, but the counts do: code of the
// receiver runs as often as the line that sends.

const (
	// leastSent is how often a line runs per request, and leastSentRun per run of a program, before
	// an equal count elsewhere shows that the other end handles the same messages.
	leastSent, leastSentRun = 5, 100
	// leastReceived and mostReceived limit what counts as equal: the receiver may get the messages
	// of other lines, too, and the counts are of some of the requests. Where the code itself takes
	// bytes from a connection, half as many are enough: a read may get several messages of a
	// stream, and packets are dropped.
	leastReceived, leastRead, mostReceived = 0.9, 0.5, 1.5
)

// receiving are the calls that take bytes from a connection.
var receiving = []string{"net.(*netFD).Read*", "net.(*netFD).read*", "net.(*rawConn).Read"}

// peer is the other end of the connection on which a draft's line sends.
type peer struct {
	engine   *engine
	sender   *claim
	sent     float64                // how often the line runs per unit of work
	entries  []string               // outermost functions of the program on the stacks of the line
	times    map[gocode.Pos]float64 // how often other lines run, as a multiple of sent; 0 if unknown
	rows     rows
	caused   float64 // part of the value of the CPU rows that the line causes
	reads    float64 // CPU of code that runs as often, in calls that take bytes from a connection
	allReads float64 // CPU of all such calls
}

// peerOf returns what the other end costs as a share of CPU; zero if it is not in the process, or
// unknown.
func (e *engine) peerOf(d *draft) stats.Interval {
	at := d.claims[0].match.Site
	if !d.rule.Claims().Sends || at == nil || e.pass.Table == nil {
		return stats.Interval{}
	}
	least := float64(leastSent)
	if e.manifest.Unit() == "run" {
		least = leastSentRun
	}
	n, ok := evidence.Executions(e.pass, at.Frame)
	if !ok || n.PerUnit < least {
		return stats.Interval{}
	}
	p := &peer{engine: e, sender: d.claims[0], sent: n.PerUnit, entries: entriesOf(d), times: map[gocode.Pos]float64{}}
	for _, s := range e.pass.Table.Sites {
		p.take(s.CPU, s.Allocs)
	}
	for _, b := range e.pass.Table.Buckets {
		p.take(b.Rows, b.Allocs)
	}
	value, _ := stacks.Sum(p.rows.cpu)
	if p.reads == 0 || value == 0 {
		return stats.Interval{}
	}
	for _, r := range slices.Concat(p.rows.cpu, p.rows.allocs) {
		e.owners[r] = p.sender // a row may be the other end of one line alone
	}
	own := e.table.Share(p.rows.cpu, p.rows.allocs).Scale(p.caused / float64(value))
	return clamp(stats.Add(own, e.wakingSeconds().Scale(p.reads/p.allReads/e.totals.TotalSeconds)))
}

// wakingSeconds returns the CPU time in which the runtime waits for connections and schedules who
// waits for them. No row says which connection it is for, so it is divided by the time in their
// reads.
func (e *engine) wakingSeconds() stats.Interval {
	n := int64(0)
	for _, b := range e.pass.Table.Buckets {
		if b.Name == site.BucketScheduler || b.Name == site.BucketPoll {
			n += b.Samples
		}
	}
	if n == 0 || e.totals.CPUSamples == 0 {
		return stats.Interval{}
	}
	return stats.Poisson(n).Scale(e.totals.TotalSeconds / float64(e.totals.CPUSamples))
}

// entriesOf returns the outermost functions of the program on a draft's stacks.
func entriesOf(d *draft) (entries []string) {
	for _, r := range slices.Concat(d.rows.cpu, d.rows.allocs) {
		for _, f := range slices.Backward(r.Stack) {
			if f.Owner.Kind == gocode.Main {
				entries = append(entries, f.Function)
				break
			}
		}
	}
	slices.Sort(entries)
	return slices.Compact(entries)
}

// take collects the rows of the other end that no other finding has.
func (p *peer) take(cpu, allocs []*site.Row) {
	for _, r := range cpu {
		reads := isRead(r)
		part := p.part(r, reads)
		if reads {
			p.allReads += float64(r.Value)
			p.reads += part * float64(r.Value)
		}
		if part > 0 && p.free(r) {
			p.rows.cpu = append(p.rows.cpu, r)
			p.caused += part * float64(r.Value)
		}
	}
	p.rows.allocs = append(p.rows.allocs, stacks.Select(allocs, func(r *site.Row) bool {
		return p.free(r) && p.part(r, isRead(r)) > 0
	})...)
}

// free reports whether no other finding has a row.
func (p *peer) free(r *site.Row) bool {
	owner := p.engine.owners[r]
	return owner == nil || owner == p.sender
}

func isRead(r *site.Row) bool {
	return slices.ContainsFunc(r.Stack, func(f *site.Frame) bool { return funcname.Match(f.Function, receiving...) })
}

// part returns which part of a row is for messages that the line sends; 0 if it is of the line's
// own goroutines, or runs more or less often.
func (p *peer) part(r *site.Row, reads bool) (part float64) {
	least := leastReceived
	if reads {
		least = leastRead
	}
	for _, f := range r.Stack {
		if slices.Contains(p.entries, f.Function) {
			return 0
		}
		if n := p.runs(f); n >= least && n <= mostReceived {
			part = max(part, math.Min(1, 1/n))
		}
	}
	return part
}

// runs returns how often a frame's line runs, as a multiple of the line that sends.
func (p *peer) runs(f *site.Frame) float64 {
	at := gocode.Pos{File: f.File, Line: f.Line}
	times, seen := p.times[at]
	if !seen {
		if n, ok := evidence.Executions(p.engine.pass, *f); ok {
			times = n.PerUnit / p.sent
		}
		p.times[at] = times
	}
	return times
}
