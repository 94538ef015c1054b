package profile

import (
	"github.com/hone-go/hone/profile/internal/columns"

	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// Fields of the message Profile in profile.proto.
const (
	fieldSampleType        = 1
	fieldSample            = 2
	fieldMapping           = 3
	fieldLocation          = 4
	fieldFunction          = 5
	fieldString            = 6
	fieldDropFrames        = 7
	fieldKeepFrames        = 8
	fieldTimeNanos         = 9
	fieldDurationNanos     = 10
	fieldPeriodType        = 11
	fieldPeriod            = 12
	fieldComment           = 13
	fieldDefaultSampleType = 14
	fieldDocURL            = 15
)

// fieldNames are the names of fields in errors; the index is the field number.
var fieldNames = [...]string{
	fieldSampleType: "sample_type", fieldSample: "sample", fieldMapping: "mapping",
	fieldLocation: "location", fieldFunction: "function", fieldString: "string_table",
	fieldDropFrames: "drop_frames", fieldKeepFrames: "keep_frames",
	fieldTimeNanos: "time_nanos", fieldDurationNanos: "duration_nanos",
	fieldPeriodType: "period_type", fieldPeriod: "period", fieldComment: "comment",
	fieldDefaultSampleType: "default_sample_type", fieldDocURL: "doc_url",
}

// Decode reads a pprof profile, which may be compressed with gzip or zstd, of at most maxBytes
// after decompression (0 = DefaultMaxBytes). It decompresses and decodes in one pass.
//
// Errors say what is malformed and where. They are: a *SyntaxError for malformed protobuf; ErrText
// for text; an error with the name of the format for formats older than protobuf. ErrTooLarge is
// the error for more than maxBytes, for compressed input that grows more than 200 times beyond 32
// MiB, and for input of records so small that the tables would take eight times its size and more
// than 64 MiB. Decode rejects what google/pprof rejects as invalid. Like it, it drops labels
// without a value.
func Decode(r io.Reader, maxBytes int64) (*Profile, error) {
	w, err := openWindow(r, maxBytes)
	if err != nil {
		return nil, err
	}
	defer w.stop()
	d := &decoder{in: w, p: &Profile{}}
	if err := d.decode(); err != nil {
		var syntax *SyntaxError
		if errors.As(err, &syntax) {
			if err := legacyError(w.head); err != nil {
				return nil, err
			}
			if err := textError(w.head); err != nil {
				return nil, err
			}
		}
		return nil, err
	}
	return d.p, nil
}

// decoder holds what is known by file ids and string indices until the whole file is read: in the
// format, a table may come after the entries that refer to it.
type decoder struct {
	in *window
	p  *Profile

	types      []typeRef
	periodType typeRef
	functions  []functionRef
	mappings   []mappingRef
	locations  []locationRef
	lineFuncs  []uint64 // function ids of all lines of all locations, in order
	lines      []Line   // memory that locations' lines are slices of
	comments   []int32
	// string indices of the profile's header
	dropFrames, keepFrames, defaultType, docURL int32

	strs  []string
	arena strings.Builder

	samples sampleDecoder
}

func (d *decoder) decode() error {
	var f field
	for n := 1; ; n++ {
		ok, err := d.nextField(&f)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if err := d.profileField(&f); err != nil {
			return err
		}
		if n%4096 == 0 {
			if err := d.checkTables(); err != nil {
				return err
			}
		}
	}
	return d.resolve()
}

// nextField reads the next top-level field. Its data is valid until the next call. The data of
// unknown fields is skipped.
func (d *decoder) nextField(f *field) (ok bool, err error) {
	for {
		const header = 20 // a tag and a length or value
		n, err := d.in.want(header)
		if err != nil || n == 0 {
			return false, err
		}
		head := d.in.buf[d.in.lo:d.in.hi]
		f.at = d.in.offset()
		tag, k := uvarint(head)
		f.num, f.wire = fieldNumber(tag), int(tag&7)
		if k == 0 || f.num == 0 {
			return false, syntaxErrorf(f.at, "profile", "broken field tag")
		}
		size := uint64(0) // of the data after the tag and length
		switch f.wire {
		case wireVarint:
			f.val, n = uvarint(head[k:])
		case wireBytes:
			size, n = uvarint(head[k:])
		case wireFixed64:
			size, n = 8, 0
		case wireFixed32:
			size, n = 4, 0
		default:
			return false, syntaxErrorf(f.at, f.name(), "wire type %d is not used in profiles", f.wire)
		}
		if n == 0 && f.wire&1 == 0 {
			return false, syntaxErrorf(f.at, f.name(), "broken varint")
		}
		if size > uint64(d.in.max) {
			return false, syntaxErrorf(f.at, f.name(), "claims %d bytes, more than a profile may have", size)
		}
		d.in.lo += k + n
		if f.num < len(fieldNames) {
			return true, d.fieldData(f, int(size))
		}
		if enough, err := d.in.skip(int64(size)); err != nil {
			return false, err
		} else if !enough {
			return false, syntaxErrorf(f.at, f.name(), "the profile ends inside it")
		}
	}
}

// fieldData reads a field's data, which starts at the next unread byte.
func (d *decoder) fieldData(f *field, size int) error {
	n, err := d.in.want(size)
	if err != nil {
		return err
	}
	if n < size {
		return syntaxErrorf(f.at, f.name(), "the profile ends inside it, after %d of %d bytes", n, size)
	}
	f.data = d.in.buf[d.in.lo : d.in.lo+size]
	d.in.lo += size
	return nil
}

// name returns the name of a top-level field in errors.
func (f *field) name() string {
	if f.num < len(fieldNames) {
		return fieldNames[f.num]
	}
	return fmt.Sprintf("unknown field %d", f.num)
}

func (d *decoder) profileField(f *field) error {
	name := f.name()
	switch f.num {
	case fieldComment:
		return d.comment(f)
	case fieldSampleType, fieldSample, fieldMapping, fieldLocation, fieldFunction, fieldString, fieldPeriodType:
		if f.wire != wireBytes {
			return syntaxErrorf(f.at, name, "wire type %d instead of a message", f.wire)
		}
	default:
		if f.wire != wireVarint {
			return syntaxErrorf(f.at, name, "wire type %d instead of a number", f.wire)
		}
	}
	m := message{b: f.data, at: d.in.offset() - int64(len(f.data)), name: name}
	var err error
	switch f.num {
	case fieldSample:
		return d.samples.add(&m)
	case fieldString:
		return d.str(f)
	case fieldLocation:
		return d.location(m)
	case fieldFunction:
		return d.function(m)
	case fieldMapping:
		return d.mapping(m)
	case fieldSampleType:
		var t typeRef
		t, err = valueType(m)
		d.types = append(d.types, t)
	case fieldPeriodType:
		d.periodType, err = valueType(m)
	case fieldTimeNanos:
		if d.p.TimeNanos != 0 {
			return syntaxErrorf(f.at, name, "occurs twice: two profiles in one file; merge the profiles instead of concatenating the files")
		}
		d.p.TimeNanos = int64(f.val)
	case fieldDurationNanos:
		d.p.DurationNanos = int64(f.val)
	case fieldPeriod:
		d.p.Period = int64(f.val)
	case fieldDropFrames:
		d.dropFrames, err = stringRef(f, name)
	case fieldKeepFrames:
		d.keepFrames, err = stringRef(f, name)
	case fieldDefaultSampleType:
		d.defaultType, err = stringRef(f, name)
	case fieldDocURL:
		d.docURL, err = stringRef(f, name)
	}
	return err
}

// stringRef checks that a field is in the range of string indices.
func stringRef(f *field, name string) (int32, error) {
	if f.val > math.MaxInt32 {
		return 0, syntaxErrorf(f.at, name, "string index %d is out of range", int64(f.val))
	}
	return int32(f.val), nil
}

// arenaLen is the number of bytes of text that share one allocation.
const arenaLen = 64 << 10

func (d *decoder) str(f *field) error {
	if len(d.strs) == 0 && len(f.data) != 0 {
		return syntaxErrorf(f.at, "string_table", "its first entry is %.20q, but must be empty", f.data)
	}
	if d.arena.Cap()-d.arena.Len() < len(f.data) {
		d.arena = strings.Builder{}
		d.arena.Grow(max(len(f.data), min(arenaLen, 16*(len(f.data)+16))))
	}
	// The builder never outgrows its buffer, so strings taken from it remain valid.
	start := d.arena.Len()
	d.arena.Write(f.data)
	d.strs = columns.AppendDoubling(d.strs, d.arena.String()[start:])
	return nil
}

func (d *decoder) comment(f *field) error {
	refs := []field{*f}
	if f.wire == wireBytes {
		refs = refs[:0]
		for b := f.data; len(b) > 0; {
			v, n := uvarint(b)
			if n == 0 {
				return syntaxErrorf(f.at, "comment", "broken varint")
			}
			refs = append(refs, field{val: v, at: f.at})
			b = b[n:]
		}
	} else if f.wire != wireVarint {
		return syntaxErrorf(f.at, "comment", "wire type %d instead of a number", f.wire)
	}
	for _, r := range refs {
		id, err := stringRef(&r, "comment")
		if err != nil {
			return err
		}
		d.comments = append(d.comments, id)
	}
	return nil
}
