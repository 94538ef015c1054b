package load

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
)

const (
	readBuffer  = 4 << 10   // of a connection; longer header lines are read piecewise
	maxHeader   = 256 << 10 // of the header of one response, and of its trailers
	maxInterim  = 16        // 1xx responses before the final one
	maxLocation = 200       // bytes of a redirect's Location that are kept
)

// malformed is the error of a response that is not HTTP/1.x.
type malformed string

func (m malformed) Error() string { return "malformed answer: " + string(m) }

// http2Only is the error of a server that speaks only HTTP/2.
const http2Only malformed = "the server speaks HTTP/2, hone load speaks HTTP/1.1"

// isHTTP2 reports whether b starts with a frame that opens or ends an HTTP/2 connection: SETTINGS
// or GOAWAY, of stream 0 (RFC 9113, sections 4.1, 6.5 and 6.8).
func isHTTP2(b []byte) bool {
	const settings, goAway = 4, 7
	return len(b) >= 9 && b[0] == 0 && (b[3] == settings || b[3] == goAway) && bytes.Equal(b[5:9], make([]byte, 4))
}

// reader parses responses from a byte stream and discards bodies. Bytes after a response belong to
// the next one.
type reader struct {
	src  io.Reader
	buf  []byte // src's bytes buf[r:w] are not parsed yet
	r, w int
	in   int64 // bytes read from src, ever

	left   int    // header bytes that the current response may still have
	loc    []byte // the Location of a redirect
	sample []byte // the first bytes of the body, up to its capacity; nil: none wanted
	body   int64  // bytes of the bodies that were read since it was set to 0
}

func newReader(src io.Reader) *reader {
	return &reader{src: src, buf: make([]byte, readBuffer)}
}

// answer holds the status and framing of a response.
type answer struct {
	status int
	close  bool // the connection cannot be used again

	minor    byte // of HTTP/1.minor
	length   int64
	sized    bool // length was given
	coded    bool // Transfer-Encoding was given
	chunked  bool // and its last coding is chunked
	keepOpen bool // Connection: keep-alive
	gzip     bool // Content-Encoding

	location []byte  // of a redirect; valid until the reader's next answer
	bodies   *Bodies // counts of its body; nil unless they are wanted
}

// read reads one response with its body. It returns io.EOF if the stream ends before the first
// byte.
func (r *reader) read(head bool) (answer, error) {
	for range maxInterim {
		a, err := r.readHead()
		if err != nil {
			return a, err
		}
		if a.status >= 200 || a.status == 101 {
			return a, r.readBody(&a, head)
		}
	}
	return answer{}, malformed(fmt.Sprintf("more than %d interim answers (1xx)", maxInterim))
}

// await waits for the first byte of a response.
func (r *reader) await() error {
	if r.r < r.w {
		return nil
	}
	return r.fill()
}

// readHead reads the status line and the header.
func (r *reader) readHead() (answer, error) {
	r.left = maxHeader
	line, err := r.line()
	if err != nil {
		if isHTTP2(r.buf[r.r:r.w]) {
			err = http2Only
		}
		return answer{}, err
	}
	var a answer
	if !a.parseStatus(line) {
		if isHTTP2(line) {
			return answer{}, http2Only
		}
		return answer{}, malformed(fmt.Sprintf("%.40q is not a status line of HTTP/1", line))
	}
	for {
		line, err = r.line()
		if err != nil {
			return a, midway(err)
		}
		if len(line) == 0 {
			break
		}
		if err := a.parseField(line); err != nil {
			return a, err
		}
		if name := "location"; a.status/100 == 3 && len(line) > len(name) && line[len(name)] == ':' && equalFold(line[:len(name)], name) {
			r.loc = append(r.loc[:0], trim(line[len(name)+1:])...)
			r.loc = r.loc[:min(len(r.loc), maxLocation)]
			a.location = r.loc
		}
	}
	if a.minor == 0 && a.coded {
		a.coded, a.chunked, a.close = false, false, true // HTTP/1.0 has no transfer codings: do not reuse the connection
	}
	a.close = a.close || a.minor == 0 && !a.keepOpen || a.status == 101
	return a, nil
}

// parseStatus reads "HTTP/1.1 200 OK"; the reason may be missing.
func (a *answer) parseStatus(line []byte) bool {
	const version = "HTTP/1."
	if len(line) < len("HTTP/1.1 200") || string(line[:len(version)]) != version || line[8] != ' ' {
		return false
	}
	a.minor = line[7] - '0'
	d := line[9:12]
	if a.minor > 9 || d[0] < '1' || d[0] > '9' || !isDigit(d[1]) || !isDigit(d[2]) || len(line) > 12 && line[12] != ' ' {
		return false
	}
	a.status = int(d[0]-'0')*100 + int(d[1]-'0')*10 + int(d[2]-'0')
	return true
}

func isDigit(c byte) bool { return c-'0' <= 9 }

// parseField parses the header fields that frame the body, and the one that says how it is
// compressed.
func (a *answer) parseField(line []byte) error {
	if line[0] == ' ' || line[0] == '\t' {
		return nil // folded: continues a field; framing fields are never folded
	}
	colon := bytes.IndexByte(line, ':')
	if colon <= 0 || line[colon-1] == ' ' || line[colon-1] == '\t' {
		return malformed(fmt.Sprintf("%.40q is not a header line", line))
	}
	// The names have four lengths, so most fields cost one comparison.
	switch name := line[:colon]; len(name) {
	case len("Content-Length"):
		if equalFold(name, "content-length") {
			return a.parseLength(trim(line[colon+1:]))
		}
	case len("Transfer-Encoding"):
		if equalFold(name, "transfer-encoding") {
			a.coded = true
			last := trim(line[colon+1:])
			if i := bytes.LastIndexByte(last, ','); i >= 0 {
				last = trim(last[i+1:])
			}
			a.chunked = equalFold(last, "chunked")
		}
	case len("Content-Encoding"):
		if equalFold(name, "content-encoding") {
			a.gzip = equalFold(trim(line[colon+1:]), "gzip")
		}
	case len("Connection"):
		if equalFold(name, "connection") {
			for rest, more := line[colon+1:], true; more; {
				var option []byte
				option, rest, more = bytes.Cut(rest, []byte(","))
				a.close = a.close || equalFold(trim(option), "close")
				a.keepOpen = a.keepOpen || equalFold(trim(option), "keep-alive")
			}
		}
	}
	return nil
}

func (a *answer) parseLength(v []byte) error {
	n, ok := int64(0), len(v) > 0
	for _, c := range v {
		if !isDigit(c) || n > (math.MaxInt64-9)/10 {
			ok = false
			break
		}
		n = n*10 + int64(c-'0')
	}
	if !ok {
		return malformed(fmt.Sprintf("Content-Length %.40q", v))
	}
	if a.sized && a.length != n {
		return malformed(fmt.Sprintf("two Content-Lengths, %d and %d", a.length, n))
	}
	a.length, a.sized = n, true
	return nil
}

// readBody discards the body, whose end RFC 9112, section 6.3 defines.
func (r *reader) readBody(a *answer, head bool) error {
	switch {
	case head || a.status == 204 || a.status == 304 || a.status == 101:
		return nil
	case a.chunked:
		return midway(r.discardChunks())
	case a.sized && !a.coded:
		return midway(r.discard(a.length))
	}
	a.close = true
	err := r.discard(math.MaxInt64)
	if err == io.EOF {
		return nil
	}
	return err
}

// discardChunks reads a chunked body (RFC 9112, section 7.1) with its trailers.
func (r *reader) discardChunks() error {
	for {
		r.left = maxHeader
		line, err := r.line()
		if err != nil {
			return err
		}
		n, ok := parseChunkSize(line)
		if !ok {
			return malformed(fmt.Sprintf("%.40q is not the size of a chunk", line))
		}
		if n == 0 {
			break
		}
		if err := r.discard(n); err != nil {
			return err
		}
		end, err := r.line()
		if err != nil {
			return err
		}
		if len(end) != 0 {
			return malformed(fmt.Sprintf("a chunk of %d bytes continues with %.20q", n, end))
		}
	}
	r.left = maxHeader
	for {
		line, err := r.line()
		if err != nil || len(line) == 0 {
			return err
		}
	}
}

// parseChunkSize parses the hexadecimal size before any extension.
func parseChunkSize(line []byte) (int64, bool) {
	var n int64
	digits := 0
	for _, c := range line {
		var d byte
		switch {
		case isDigit(c):
			d = c - '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			d = c | 0x20 - 'a' + 10
		case c == ';' || c == ' ' || c == '\t':
			return n, digits > 0
		default:
			return 0, false
		}
		if digits++; digits > 15 {
			return 0, false
		}
		n = n<<4 | int64(d)
	}
	return n, digits > 0
}

// line returns the next line without its line ending, valid until the next call. If a line is
// longer than the buffer, it returns the start and skips the rest.
func (r *reader) line() ([]byte, error) {
	scanned := r.r
	for {
		if i := bytes.IndexByte(r.buf[scanned:r.w], '\n'); i >= 0 {
			line := r.buf[r.r : scanned+i]
			if r.left -= len(line) + 1; r.left < 0 {
				return nil, malformed(fmt.Sprintf("a header of more than %d bytes", maxHeader))
			}
			r.r = scanned + i + 1
			if n := len(line); n > 0 && line[n-1] == '\r' {
				line = line[:n-1]
			}
			return line, nil
		}
		if r.r == 0 && r.w == len(r.buf) {
			return r.longLine()
		}
		started := r.r < r.w
		if err := r.fill(); err != nil {
			if started {
				err = midway(err)
			}
			return nil, err
		}
		scanned = r.r
	}
}

// longLine returns a copy of the buffered start of a line and skips the rest.
func (r *reader) longLine() ([]byte, error) {
	begin := bytes.Clone(r.buf[:256])
	for {
		i := bytes.IndexByte(r.buf[r.r:r.w], '\n')
		if i >= 0 {
			r.left -= i + 1
			r.r += i + 1
		} else {
			r.left -= r.w - r.r
			r.r = r.w
		}
		if r.left < 0 {
			return nil, malformed(fmt.Sprintf("a header of more than %d bytes", maxHeader))
		}
		if i >= 0 {
			return begin, nil
		}
		if err := r.fill(); err != nil {
			return nil, midway(err)
		}
	}
}

// fill reads more into the buffer, which is not full.
func (r *reader) fill() error {
	switch {
	case r.r == r.w:
		r.r, r.w = 0, 0
	case r.w == len(r.buf):
		r.w = copy(r.buf, r.buf[r.r:r.w])
		r.r = 0
	}
	n, err := r.src.Read(r.buf[r.w:])
	r.w += n
	r.in += int64(n)
	switch {
	case n > 0:
		return nil
	case err == nil:
		return io.ErrNoProgress
	}
	return err
}

// bulk holds buffers for bodies that are longer than a connection's buffer.
var bulk = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// discard reads and discards n bytes of body.
func (r *reader) discard(n int64) error {
	for {
		have := min(int64(r.w-r.r), n)
		r.keep(r.buf[r.r : r.r+int(have)])
		r.r += int(have)
		n -= have
		switch {
		case n == 0:
			return nil
		case n > readBuffer:
			return r.discardBulk(n)
		}
		if err := r.fill(); err != nil {
			return err
		}
	}
}

// discardBulk is discard for an empty connection buffer.
func (r *reader) discardBulk(n int64) error {
	buf := bulk.Get().(*[64 << 10]byte)
	defer bulk.Put(buf)
	for n > 0 {
		got, err := r.src.Read(buf[:min(n, int64(len(buf)))])
		r.keep(buf[:got])
		r.in += int64(got)
		n -= int64(got)
		if got == 0 {
			if err == nil {
				err = io.ErrNoProgress
			}
			return err
		}
	}
	return nil
}

// keep counts the bytes of body and appends it to the sample up to its capacity.
func (r *reader) keep(body []byte) {
	r.body += int64(len(body))
	if room := cap(r.sample) - len(r.sample); room > 0 {
		r.sample = append(r.sample, body[:min(room, len(body))]...)
	}
}

// midway turns io.EOF inside a response into io.ErrUnexpectedEOF.
func midway(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// trim removes white space at both ends.
func trim(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// equalFold reports whether b is lower, an ASCII string in lower case.
func equalFold(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i := range lower {
		c := b[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}
