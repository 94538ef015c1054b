package capture

import (
	"errors"
	"fmt"
	"time"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/profile"
)

// collection sums what the runs of one phase deliver. The zero collection is ready to use.
type collection struct {
	cpu, allocs, block, mutex merged
	heap, goroutine           []byte // of the end of the last run
	trace                     []byte // of the first run that has one: traces do not add up
	truncated                 bool
	asked, forced             int64
	missing                   map[string]string // by probe's name, the last reason
	lost                      map[string]int    // by probe's name, the number of runs
}

// merged is a sum of profiles.
type merged struct {
	sum *profile.Merger
	n   int
	err error // the last error that kept a profile out
}

func (m *merged) add(p *profile.Profile, err error) {
	if err == nil {
		if m.sum == nil {
			m.sum = profile.NewMerger()
		}
		err = m.sum.Add(p)
	}
	if err != nil {
		m.err = err
		return
	}
	m.n++
}

func (m *merged) addBytes(data []byte) {
	if data == nil {
		return
	}
	p, err := decode(data)
	m.add(p, err)
}

// take adds what one run delivered.
func (c *collection) take(r run) {
	c.asked++
	c.cpu.addBytes(r.parts["cpu"])
	c.block.addBytes(r.parts["block"])
	c.mutex.addBytes(r.parts["mutex"])
	start, end := r.parts["heap.start"], r.parts["heap.end"]
	for _, data := range [][]byte{start, end} {
		if data != nil {
			c.forced++
		}
	}
	if end != nil {
		c.heap = end
	}
	if data := r.parts["goroutine"]; data != nil {
		c.goroutine = data
	}
	if start != nil && end != nil {
		c.allocs.add(gained(end, start, r.exit.Wall))
	}
	if c.trace == nil && len(r.parts["trace"]) > 0 {
		c.trace, c.truncated = r.parts["trace"], r.truncated
	}
	for name, why := range r.missing {
		if c.missing == nil {
			c.missing, c.lost = map[string]string{}, map[string]int{}
		}
		c.missing[name] = why
		c.lost[name]++
	}
}

func gained(end, start []byte, length time.Duration) (*profile.Profile, error) {
	a, err := decode(end)
	if err != nil {
		return nil, err
	}
	b, err := decode(start)
	if err != nil {
		return nil, err
	}
	return difference(a, b, length, "alloc_space")
}

// write adds the phase's parts to the recording, or notes why they are missing.
func (c *collection) write(r *recorder) error {
	if c.asked == 0 {
		return nil
	}
	for name, n := range c.lost {
		if int64(n) < c.asked {
			r.note("%s of %d of %d runs in phase %s was lost: %s", name, n, c.asked, r.phase, c.missing[name])
		}
	}
	switch r.phase {
	case recording.PhaseCPU:
		return errors.Join(
			c.writeSum(r, recording.PartCPU, &c.cpu, "cpu"),
			c.writeSum(r, recording.PartAllocs, &c.allocs, "heap.end"),
			c.writeBytes(r, recording.PartHeap, c.heap, "heap.end"),
			c.writeBytes(r, recording.PartGoroutine, c.goroutine, "goroutine"),
		)
	case recording.PhaseContention:
		return errors.Join(
			c.writeSum(r, recording.PartBlock, &c.block, "block"),
			c.writeSum(r, recording.PartMutex, &c.mutex, "mutex"),
		)
	case recording.PhaseTrace:
		if c.truncated {
			r.note("%s was ended at %d MB", recording.PartTrace, maxTraceBytes>>20)
		}
		if c.asked > 1 && c.trace != nil {
			r.note("%s is of the first of %d runs", recording.PartTrace, c.asked)
		}
		return c.writeBytes(r, recording.PartTrace, c.trace, "trace")
	}
	return nil
}

func (c *collection) writeSum(r *recorder, part string, m *merged, name string) error {
	if m.n == 0 {
		r.missing(part, c.reason(name, m.err))
		return nil
	}
	if m.err != nil {
		r.note("%s lacks a run: %v", part, m.err)
	}
	sum, err := m.sum.Profile()
	if err != nil {
		r.missing(part, fmt.Errorf("merge the runs: %w", err))
		return nil
	}
	data, err := encode(sum)
	if err != nil {
		r.missing(part, fmt.Errorf("merge the runs: %w", err))
		return nil
	}
	return r.add(part, r.phase, data)
}

func (c *collection) writeBytes(r *recorder, part string, data []byte, name string) error {
	if len(data) == 0 {
		r.missing(part, c.reason(name, nil))
		return nil
	}
	return r.add(part, r.phase, data)
}

// reason returns why no run delivered a part.
func (c *collection) reason(name string, err error) error {
	if why := c.missing[name]; why != "" {
		return errors.New(why)
	}
	if err != nil {
		return err
	}
	return errNone
}
