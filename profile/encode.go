package profile

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
)

// Encode writes p as pprof, compressed with gzip at the fastest level, as runtime/pprof does.
// Nothing is lost: decoding returns p, with its tables in the same order.
func (p *Profile) Encode(w io.Writer) error {
	zw, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return fmt.Errorf("encode profile: %w", err)
	}
	if err := p.EncodeRaw(zw); err != nil {
		return err
	}
	if err := zw.Close(); err != nil {
		return fmt.Errorf("encode profile: %w", err)
	}
	return nil
}

// EncodeRaw writes p as pprof without compression.
func (p *Profile) EncodeRaw(w io.Writer) error {
	e := &encoder{p: p, w: w, strID: map[string]uint64{"": 0}, strs: []string{""}}
	for _, t := range p.SampleTypes {
		e.message(fieldSampleType, e.valueType(t))
	}
	e.samples()
	e.tables()
	e.header()
	for _, s := range e.strs {
		e.message(fieldString, []byte(s))
	}
	e.flush()
	if e.err != nil {
		return fmt.Errorf("encode profile: %w", e.err)
	}
	return nil
}

type encoder struct {
	p     *Profile
	w     io.Writer
	err   error
	out   []byte // not written yet
	msg   []byte // the current message
	sub   []byte // its sub-message
	strID map[string]uint64
	strs  []string
}

func (e *encoder) str(s string) uint64 {
	id, ok := e.strID[s]
	if !ok {
		id = uint64(len(e.strs))
		e.strID[s] = id
		e.strs = append(e.strs, s)
	}
	return id
}

func (e *encoder) flush() {
	if e.err == nil && len(e.out) > 0 {
		_, e.err = e.w.Write(e.out)
	}
	e.out = e.out[:0]
}

func (e *encoder) message(num int, msg []byte) {
	e.out = appendBytesField(e.out, num, msg)
	if len(e.out) > 64<<10 {
		e.flush()
	}
}

func (e *encoder) valueType(t ValueType) []byte {
	e.msg = appendVarintField(e.msg[:0], 1, e.str(t.Type))
	return appendVarintField(e.msg, 2, e.str(t.Unit))
}

func (e *encoder) samples() {
	p := e.p
	labels := e.labelSets()
	for row := range p.NumSamples() {
		e.sub = e.sub[:0]
		for _, l := range p.stacks.Row(row) {
			e.sub = binary.AppendUvarint(e.sub, uint64(l)+1)
		}
		e.msg = e.msg[:0]
		if len(e.sub) > 0 {
			e.msg = appendBytesField(e.msg, 1, e.sub)
		}
		e.sub = e.sub[:0]
		for _, column := range p.values {
			e.sub = binary.AppendUvarint(e.sub, uint64(column[row]))
		}
		e.msg = appendBytesField(e.msg, 2, e.sub)
		if len(labels) > 0 {
			e.msg = append(e.msg, labels[p.LabelSet(row)]...)
		}
		e.message(fieldSample, e.msg)
	}
}

// labelSets encodes each label set once, as the fields that a sample carries.
func (e *encoder) labelSets() [][]byte {
	t := &e.p.labels
	sets := make([][]byte, len(t.sets))
	for set := range sets {
		var b []byte
		for _, l := range t.ids(set) {
			e.sub = appendVarintField(e.sub[:0], 1, e.str(t.strs[l.key]))
			e.sub = appendVarintField(e.sub, 2, e.str(t.strs[l.str]))
			e.sub = appendVarintField(e.sub, 3, uint64(l.num))
			e.sub = appendVarintField(e.sub, 4, e.str(t.strs[l.unit]))
			b = appendBytesField(b, 3, e.sub)
		}
		sets[set] = b
	}
	return sets
}

func (e *encoder) tables() {
	for i, m := range e.p.Mappings {
		b := appendVarintField(e.msg[:0], 1, uint64(i)+1)
		b = appendVarintField(b, 2, m.Start)
		b = appendVarintField(b, 3, m.Limit)
		b = appendVarintField(b, 4, m.Offset)
		b = appendVarintField(b, 5, e.str(m.File))
		b = appendVarintField(b, 6, e.str(m.BuildID))
		b = appendBoolField(b, 7, m.HasFunctions)
		b = appendBoolField(b, 8, m.HasFilenames)
		b = appendBoolField(b, 9, m.HasLineNumbers)
		b = appendBoolField(b, 10, m.HasInline)
		e.msg = b
		e.message(fieldMapping, b)
	}
	for i, l := range e.p.Locations {
		b := appendVarintField(e.msg[:0], 1, uint64(i)+1)
		b = appendVarintField(b, 2, uint64(l.Mapping+1))
		b = appendVarintField(b, 3, l.Address)
		for _, ln := range l.Lines {
			e.sub = appendVarintField(e.sub[:0], 1, uint64(ln.Func)+1)
			e.sub = appendVarintField(e.sub, 2, uint64(ln.Line))
			e.sub = appendVarintField(e.sub, 3, uint64(ln.Column))
			b = appendBytesField(b, 4, e.sub)
		}
		b = appendBoolField(b, 5, l.IsFolded)
		e.msg = b
		e.message(fieldLocation, b)
	}
	for i, f := range e.p.Functions {
		b := appendVarintField(e.msg[:0], 1, uint64(i)+1)
		b = appendVarintField(b, 2, e.str(f.Name))
		b = appendVarintField(b, 3, e.str(f.SystemName))
		b = appendVarintField(b, 4, e.str(f.Filename))
		b = appendVarintField(b, 5, uint64(f.StartLine))
		e.msg = b
		e.message(fieldFunction, b)
	}
}

func (e *encoder) header() {
	p := e.p
	if p.PeriodType != (ValueType{}) {
		e.message(fieldPeriodType, e.valueType(p.PeriodType))
	}
	b := e.out
	b = appendVarintField(b, fieldDropFrames, e.str(p.DropFrames))
	b = appendVarintField(b, fieldKeepFrames, e.str(p.KeepFrames))
	b = appendVarintField(b, fieldTimeNanos, uint64(p.TimeNanos))
	b = appendVarintField(b, fieldDurationNanos, uint64(p.DurationNanos))
	b = appendVarintField(b, fieldPeriod, uint64(p.Period))
	for _, c := range p.Comments {
		// Repeated fields keep their zeros: an empty comment is string 0.
		b = binary.AppendUvarint(b, fieldComment<<3|wireVarint)
		b = binary.AppendUvarint(b, e.str(c))
	}
	b = appendVarintField(b, fieldDefaultSampleType, e.str(p.DefaultSampleType))
	b = appendVarintField(b, fieldDocURL, e.str(p.DocURL))
	e.out = b
}
