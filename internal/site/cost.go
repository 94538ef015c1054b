package site

// tinyBlock is between the size of the blocks that the runtime packs tiny objects into (16 bytes: runtime/malloc.go,
// maxTinySize) and the next one (24): a sampled row's size is an estimate.
const tinyBlock = 20

// seconds is the value of a row of a profile of time.
func seconds(r *Row) float64 { return float64(r.Value) / 1e9 }

// add charges a row. The collector's own CPU is nobody's: it comes back by bytes.
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

// weight is what ranks a cost: CPU with the collector's, in seconds.
func (c *Cost) dear() float64 { return c.CPUSeconds + c.GCSeconds }

func (c *Cost) wait() float64 { return c.BlockSeconds + c.MutexSeconds }

// add charges a row that is not the probe's to the whole.
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
