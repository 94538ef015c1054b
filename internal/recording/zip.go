package recording

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/klauspost/compress/flate"
)

// The records of a zip file that a Writer appends, as PKWARE's APPNOTE.TXT 6.3.10 describes them:
// local file header (4.3.7), central directory header (4.3.12) and end of central directory record
// (4.3.16). No zip64: a recording stays below 4 GiB. archive/zip writes neither a directory in the
// middle of a file nor one that covers entries written earlier; hence this code. Reading is left to
// archive/zip.
const (
	localSignature   = 0x04034b50
	centralSignature = 0x02014b50
	endSignature     = 0x06054b50

	localLen   = 30
	centralLen = 46
	endLen     = 22

	methodStore   = 0
	methodDeflate = 8

	zipVersion   = 20      // 2.0: deflate
	madeByUnix   = 3 << 8  // upper byte of "version made by": attributes are Unix modes
	flagUTF8     = 1 << 11 // names are UTF-8
	regularFile  = 0o100644
	maxZipOffset = 1<<32 - 1
)

// entry is one file of the zip, as the directory describes it.
type entry struct {
	name   string
	method uint16
	date   uint16 // MS-DOS
	time   uint16
	crc    uint32
	packed uint32 // bytes in the file
	size   uint32 // bytes of the content
	offset uint32 // of its local header
}

// pack compresses data when that saves space, and describes it as an entry at offset. Profiles are
// already gzip-compressed and are stored.
func pack(name string, data []byte, at time.Time, offset int64) (entry, []byte, error) {
	e := entry{
		name:   name,
		method: methodStore,
		crc:    crc32.ChecksumIEEE(data),
		size:   uint32(len(data)),
		offset: uint32(offset),
	}
	e.date, e.time = dosTime(at)
	body := data
	if !gzipped(data) {
		// The fastest level: hone shares the machine with the program it measures.
		var b bytes.Buffer
		fw, err := flate.NewWriter(&b, flate.BestSpeed)
		if err != nil {
			return e, nil, fmt.Errorf("deflate: %w", err)
		}
		if _, err := fw.Write(data); err != nil {
			return e, nil, fmt.Errorf("deflate: %w", err)
		}
		if err := fw.Close(); err != nil {
			return e, nil, fmt.Errorf("deflate: %w", err)
		}
		if b.Len() < len(data) {
			e.method, body = methodDeflate, b.Bytes()
		}
	}
	e.packed = uint32(len(body))
	return e, body, nil
}

func gzipped(data []byte) bool {
	return len(data) > 2 && data[0] == 0x1f && data[1] == 0x8b
}

// appendLocal appends the local file header; the content follows it.
func (e entry) appendLocal(b []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, localSignature)
	b = le.AppendUint16(b, zipVersion)
	b = e.appendCommon(b)
	b = le.AppendUint16(b, 0) // extra field length
	return append(b, e.name...)
}

// appendCentral appends the entry's header in the central directory.
func (e entry) appendCentral(b []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, centralSignature)
	b = le.AppendUint16(b, madeByUnix|zipVersion)
	b = le.AppendUint16(b, zipVersion)
	b = e.appendCommon(b)
	b = le.AppendUint16(b, 0) // extra field length
	b = le.AppendUint16(b, 0) // comment length
	b = le.AppendUint16(b, 0) // disk number
	b = le.AppendUint16(b, 0) // internal attributes
	b = le.AppendUint32(b, regularFile<<16)
	b = le.AppendUint32(b, e.offset)
	return append(b, e.name...)
}

// appendCommon appends the fields that both headers share, flags to name length.
func (e entry) appendCommon(b []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint16(b, flagUTF8)
	b = le.AppendUint16(b, e.method)
	b = le.AppendUint16(b, e.time)
	b = le.AppendUint16(b, e.date)
	b = le.AppendUint32(b, e.crc)
	b = le.AppendUint32(b, e.packed)
	b = le.AppendUint32(b, e.size)
	return le.AppendUint16(b, uint16(len(e.name)))
}

// appendEnd appends the end of central directory record.
func appendEnd(b []byte, entries int, offset, size uint32) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, endSignature)
	b = le.AppendUint16(b, 0) // this disk
	b = le.AppendUint16(b, 0) // disk of the directory
	b = le.AppendUint16(b, uint16(entries))
	b = le.AppendUint16(b, uint16(entries))
	b = le.AppendUint32(b, size)
	b = le.AppendUint32(b, offset)
	return le.AppendUint16(b, 0) // comment length
}

// end is a parsed end of central directory record.
type end struct {
	at      int64 // where the record begins
	entries int
	size    int64 // of the directory
	offset  int64 // of the directory
	comment int64 // length of what follows the record
}

// parseEnd reads an end record that starts at b[0] and lies at offset at. It is strict where
// archive/zip is lenient, because the scan of a damaged file tries many places: one disk, no zip64,
// and the directory ends where the record starts.
func parseEnd(b []byte, at int64) (end, bool) {
	le := binary.LittleEndian
	if len(b) < endLen || le.Uint32(b) != endSignature {
		return end{}, false
	}
	e := end{
		at:      at,
		entries: int(le.Uint16(b[10:])),
		size:    int64(le.Uint32(b[12:])),
		offset:  int64(le.Uint32(b[16:])),
		comment: int64(le.Uint16(b[20:])),
	}
	ok := le.Uint16(b[4:]) == 0 && le.Uint16(b[6:]) == 0 &&
		int(le.Uint16(b[8:])) == e.entries &&
		e.entries <= maxParts+1 && e.size <= maxDirectory &&
		e.size >= int64(e.entries)*centralLen &&
		e.offset+e.size == at
	return e, ok
}

// dosTime returns t as MS-DOS date and time (APPNOTE 4.4.6), in UTC.
func dosTime(t time.Time) (date, clock uint16) {
	t = t.UTC()
	year := t.Year()
	if year < 1980 || year > 2107 {
		return 1<<5 | 1, 0 // 1980-01-01, the earliest
	}
	date = uint16(t.Day() | int(t.Month())<<5 | (year-1980)<<9)
	clock = uint16(t.Second()/2 | t.Minute()<<5 | t.Hour()<<11)
	return date, clock
}
