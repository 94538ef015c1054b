package site

// tinyBlock lies between the size of the blocks that the runtime packs tiny objects into (16 bytes:
// runtime/malloc.go, maxTinySize) and the next size class (24). A sampled row's size is an
// estimate, hence the margin.
const tinyBlock = 20

// seconds returns the value of a row of a time profile.
func seconds(r *Row) float64 { return float64(r.Value) / 1e9 }

// add charges a row. CPU of the collector itself is left out: it is charged by allocated bytes.
func (c *Cost) add(k kind, r *Row) {
	switch k {
	case cpu:
		if r.Class.collector() || r.Class == Probe {
			return
		}
		c.Samples += r.Count
		c.CPUSeconds += seconds(r)
		if r.Class == Malloc {
			c.MallocSeconds += seconds(r)
		}
	case allocs:
		c.AllocBytes += r.Value
		c.AllocObjects += r.Count
		if r.Value < tinyBlock*r.Count {
			c.TinyBlocks += r.Count
		}
	case heap:
		c.LiveBytes += r.Value
	case block:
		c.BlockSeconds += seconds(r)
	case mutex:
		c.MutexSeconds += seconds(r)
	}
}

// seconds returns the cost by which sites are ranked: CPU seconds with those of garbage collection.
func (c *Cost) seconds() float64 { return c.CPUSeconds + c.GCSeconds }

func (c *Cost) wait() float64 { return c.BlockSeconds + c.MutexSeconds }

// add charges a row to the total, unless the row is the probe's.
func (t *Totals) add(k kind, r *Row) {
	t.Cost.add(k, r)
	if k != cpu {
		return
	}
	t.CPUSamples += r.Count
	t.TotalSeconds += seconds(r)
	switch r.Class {
	case Malloc:
		t.M += seconds(r)
	case Assist:
		t.A += seconds(r)
	case MarkWorker:
		t.D += seconds(r)
	case IdleMark:
		t.I += seconds(r)
	case Sweep:
		t.W += seconds(r)
	}
}
