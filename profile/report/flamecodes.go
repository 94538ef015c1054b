package report

import (
	"slices"

	"github.com/hone-go/hone/profile/internal/frames"
)

// coder numbers the frames of stacks for layouts that read them, from the root or, inverted, from
// the leaf. A code is twice the number of a key, plus one if the call was inlined, or zero for the
// end of the stack.
type coder struct {
	inverted bool
	codes    []uint32 // by location: the code of its only frame, noFrames, or someFrames and an index in lists
	lists    []uint32 // of each location with several frames their number, then their codes
	numbers  []uint32 // by key: its number in codes, from 1
	keys     []int32  // by number: the key
}

// In codes of locations without frames, and with several.
const (
	noFrames   = 0
	someFrames = 1 << 31
)

// newCoder numbers the keys that have frames.
func newCoder(f *frames.Table, inverted bool) coder {
	c := coder{inverted: inverted, numbers: make([]uint32, len(f.Keys)), keys: make([]int32, 1, len(f.Keys)+1)}
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
			c.codes[l] = someFrames | uint32(len(c.lists))
			c.addList(frames)
		}
	}
	return c
}

// addList adds the frames of a location, which are stored leaf first.
func (c *coder) addList(frames []int32) {
	c.lists = append(c.lists, uint32(len(frames)))
	from := len(c.lists)
	for i, k := range frames {
		code := c.numbers[k] << 1
		if i+1 < len(frames) {
			code++
		}
		c.lists = append(c.lists, code)
	}
	if !c.inverted {
		slices.Reverse(c.lists[from:])
	}
}

// list returns the codes of the frames of a location that has several.
func (c *coder) list(code uint32) []uint32 {
	at := code &^ someFrames
	return c.lists[at+1 : at+1+c.lists[at]]
}

// appendCodes appends the codes of the frames of a stack.
func (c *coder) appendCodes(to []uint32, stack []int32) []uint32 {
	for i := range stack {
		l := stack[i]
		if !c.inverted {
			l = stack[len(stack)-1-i]
		}
		switch code := c.codes[l]; {
		case code == noFrames:
		case code >= someFrames:
			to = append(to, c.list(code)...)
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
		code := c.codes[l]
		if code < someFrames {
			if code == noFrames {
				continue
			}
			if depth == 0 {
				return code
			}
			depth--
			continue
		}
		list := c.list(code)
		if int(depth) < len(list) {
			return list[depth]
		}
		depth -= int32(len(list))
	}
	return 0
}
