package report

import "github.com/hone-go/hone/profile/internal/frames"

// coder numbers the frames of stacks for layouts that read them, from the root or, inverted, from
// the leaf. A code is twice the number of a key, plus one if the call was inlined, or zero for the
// end of the stack.
type coder struct {
	table    *frames.Table
	inverted bool
	codes    []uint32 // by location: the code of its only frame, noFrames or someFrames
	numbers  []uint32 // by key: its number in codes, from 1
	keys     []int32  // by number: the key
}

// Codes of locations without frames, and with several.
const (
	noFrames   = 0
	someFrames = 1
)

// newCoder numbers the keys that have frames.
func newCoder(f *frames.Table, inverted bool) coder {
	c := coder{table: f, inverted: inverted, numbers: make([]uint32, len(f.Keys)), keys: make([]int32, 1, len(f.Keys)+1)}
	for _, k := range f.List {
		if c.numbers[k] == 0 {
			c.numbers[k] = uint32(len(c.keys))
			c.keys = append(c.keys, k)
		}
	}
	c.codes = make([]uint32, len(f.Start)-1)
	for l := range c.codes {
		switch frames := f.List[f.Start[l]:f.Start[l+1]]; len(frames) {
		case 0:
			c.codes[l] = noFrames
		case 1:
			c.codes[l] = c.numbers[frames[0]] << 1
		default:
			c.codes[l] = someFrames
		}
	}
	return c
}

// framesOf returns the number of frames of a location.
func (c *coder) framesOf(l int32) int32 { return c.table.Start[l+1] - c.table.Start[l] }

// codeOf returns the code of one of the n frames of a location.
func (c *coder) codeOf(l, taken, n int32) uint32 {
	at := n - 1 - taken // they are stored leaf first
	if c.inverted {
		at = taken
	}
	code := c.numbers[c.table.List[c.table.Start[l]+at]] << 1
	if at+1 < n {
		code++
	}
	return code
}

// appendCodes appends the codes of the frames of a stack.
func (c *coder) appendCodes(to []uint32, stack []int32) []uint32 {
	for i := range stack {
		l := stack[i]
		if !c.inverted {
			l = stack[len(stack)-1-i]
		}
		switch code := c.codes[l]; code {
		case noFrames:
		case someFrames:
			n := c.framesOf(l)
			for taken := range n {
				to = append(to, c.codeOf(l, taken, n))
			}
		default:
			to = append(to, code)
		}
	}
	return to
}

// codeAt returns the code of a stack after depth frames.
func (c *coder) codeAt(stack []int32, depth int32) uint32 {
	for i := range stack {
		l := stack[i]
		if !c.inverted {
			l = stack[len(stack)-1-i]
		}
		n := c.framesOf(l)
		if depth < n {
			return c.codeOf(l, depth, n)
		}
		depth -= n
	}
	return 0
}
