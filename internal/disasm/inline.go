package disasm

import "sort"

// Frame is one call of an instruction's chain.
type Frame struct {
	Function string
	File     string // as the compiler wrote it
	Line     int
}

// lines says where the instructions of one function come from.
type lines struct {
	table               *pclntab
	name                string
	size                uint64
	unit                uint32
	file, line, inlined []step
	tree                []byte // of inlined calls; nil when not known
}

// An inlined call (runtime/symtabinl.go, type inlinedCall, since Go 1.21), in bytes.
const (
	callSize   = 16
	callName   = 4
	callParent = 8
	maxChain   = 1000
)

// linesOf decodes the lines of a function from the table; nil without Go's table.
func (b *Binary) linesOf(f Func) *lines {
	if b.table == nil {
		return nil
	}
	t := b.table
	r, entry := t.find(f.Entry)
	if r == nil || entry != f.Entry {
		return nil
	}
	field := func(at int) uint32 { return t.order.Uint32(r[at:]) }
	l := &lines{
		table: t, name: f.Name, size: f.End - f.Entry, unit: field(recordUnit),
		file: t.steps(field(recordFile)), line: t.steps(field(recordLine)),
	}
	pcdata, funcdata := uint64(field(recordPCData)), uint64(r[recordFuncData])
	if pcdata > pcdataInline {
		if at, ok := t.at(r, recordSize+4*pcdataInline); ok {
			l.inlined = t.steps(at)
		}
	}
	if funcdata > funcdataInline && b.obj.goFunc != 0 {
		if at, ok := t.at(r, recordSize+4*(pcdata+funcdataInline)); ok && at != noFuncData {
			l.tree = b.inlineTree(b.obj.goFunc+uint64(at), l.inlined)
		}
	}
	return l
}

// inlineTree reads as many calls as the function's code refers to.
func (b *Binary) inlineTree(addr uint64, inlined []step) []byte {
	last := int32(-1)
	for _, s := range inlined {
		last = max(last, s.value)
	}
	if last < 0 || last > maxCode/callSize {
		return nil
	}
	buf := make([]byte, (int(last)+1)*callSize)
	if b.obj.read(addr, buf) != nil {
		return nil
	}
	return buf
}

// position is the file and line at an offset from the entry.
func (l *lines) position(offset uint64) (file string, line int) {
	n := valueAt(l.file, offset)
	line = max(0, int(valueAt(l.line, offset)))
	if n < 0 {
		return "", line
	}
	at, ok := l.table.at(l.table.units, 4*(uint64(l.unit)+uint64(n)))
	if !ok || at == ^uint32(0) {
		return "", line
	}
	return text(l.table.files, at), line
}

// nextLine returns the first offset after another at which a line starts. An instruction starts
// there, too, so that one which cannot be decoded does not affect those after it.
func (l *lines) nextLine(offset int) int {
	i := sort.Search(len(l.line), func(i int) bool { return l.line[i].end > uint64(offset) })
	if i == len(l.line) {
		return int(l.size)
	}
	return int(l.line[i].end)
}

// at returns the chain of calls at an offset, innermost first. Where the inline tree is
// not known, the innermost position is all there is, and it has the function's name.
func (l *lines) at(offset uint64) []Frame {
	var chain []Frame
	for len(chain) < maxChain {
		file, line := l.position(offset)
		call := valueAt(l.inlined, offset)
		name, parent, ok := l.call(call)
		if !ok {
			return append(chain, Frame{l.name, file, line})
		}
		chain = append(chain, Frame{name, file, line})
		offset = parent
	}
	return chain
}

// call reads one inlined call; false when there is none, or it cannot be one.
func (l *lines) call(n int32) (name string, parent uint64, ok bool) {
	if n < 0 || (int(n)+1)*callSize > len(l.tree) {
		return "", 0, false
	}
	c := l.tree[int(n)*callSize:]
	at, parent := l.table.order.Uint32(c[callName:]), uint64(l.table.order.Uint32(c[callParent:]))
	name = text(l.table.names, at)
	begins := at == 0 || int(at) <= len(l.table.names) && l.table.names[at-1] == 0
	return name, parent, name != "" && begins && parent < l.size
}
