package rules_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	bodynotclosed "github.com/hone-go/hone/internal/diagnose/rules/body-not-closed"
	readallknownsize "github.com/hone-go/hone/internal/diagnose/rules/readall-known-size"
	smallreads "github.com/hone-go/hone/internal/diagnose/rules/small-reads"
	smallwrites "github.com/hone-go/hone/internal/diagnose/rules/small-writes"
	sqlopenpercall "github.com/hone-go/hone/internal/diagnose/rules/sql-open-per-call"
	sqlprepareperquery "github.com/hone-go/hone/internal/diagnose/rules/sql-prepare-per-query"
	unbufferedlog "github.com/hone-go/hone/internal/diagnose/rules/unbuffered-log"
)

// TestBodyNotClosedShapes: paths on which a response's body stays open.
func TestBodyNotClosedShapes(t *testing.T) {
	const head = `import (
	"errors"
	"io"
	"net/http"
)

type doer interface {
	Do(*http.Request) (*http.Response, error)
}

type api struct{ client doer }

func (a *api) get(r *http.Request) (*http.Response, error) { return a.client.Do(r) }

func get(url string) (*http.Response, []byte, error) {
	resp, err := http.Get(url)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp, b, err
}

func retry(r *http.Response) bool { return r.StatusCode == 429 && r.Header.Get("Retry-After") != "" }

func done(r *http.Response) bool {
	io.Copy(io.Discard, r.Body)
	return r.Body.Close() == nil
}

func save(w io.Writer, r *http.Response) error { return r.Write(w) }

var errStatus = errors.New("status")`
	open := func(p *rule.Pass) {
		p.OpenBodies, p.Goroutines = 5000, rule.Change{First: 150, Last: 10_150}
	}
	checkShapesIn(t, bodynotclosed.Rule(), head, "net/http.(*Client).Do", 0, []shape{
		{"func F(d doer, r *http.Request) error {\n\tresp, err := d.Do(r) @\n\tif err != nil {\n\t\treturn err\n\t}\n\tif resp.StatusCode != 200 {\n\t\treturn errStatus\n\t}\n\treturn resp.Body.Close()\n}", "returns on line"},
		{"func F(a *api, r *http.Request) (int, error) {\n\tresp, err := a.client.Do(r) @\n\tif err != nil || resp.StatusCode != 200 {\n\t\treturn 0, errStatus\n\t}\n\tdefer resp.Body.Close()\n\treturn resp.StatusCode, nil\n}", "returns on line"},
		{"func F(a *api, r *http.Request) (int, error) {\n\tresp, err := a.get(r) @\n\tif err != nil {\n\t\treturn 0, err\n\t}\n\treturn resp.StatusCode, nil\n}", "returns on line"},
		{"func F(url string) error {\n\t_, err := http.Get(url) @\n\treturn err\n}", "drops the response"},
		{"func F(url string) {\n\thttp.Post(url, \"\", nil) @\n}", "drops the response"},
		{"func F(url string) {\n\tresp, err := http.Get(url) @\n\tif err != nil {\n\t\treturn\n\t}\n\tprintln(resp.StatusCode)\n}", "never closes"},
		{"func F(url string) {\n\tresp, err := http.Get(url) @\n\tif err == nil && retry(resp) {\n\t\tprintln(url)\n\t}\n}", "never closes"},
		{"func F(url string) {\n\tresp, err := http.Get(url) @\n\tif err == nil && done(resp) {\n\t\tprintln(url)\n\t}\n}", ""},
		{"func F(url string, w io.Writer) {\n\tresp, err := http.Get(url) @\n\tif err == nil {\n\t\tsave(w, resp)\n\t}\n}", ""},
		{"func F(url string) {\n\tgo func() {\n\t\tresp, err := http.Get(url) @\n\t\tif err != nil {\n\t\t\treturn\n\t\t}\n\t\tprintln(resp.StatusCode)\n\t}()\n}", "never closes"},
		{"func F(urls []string) error {\n\tfor _, u := range urls {\n\t\tresp, err := http.Get(u) @\n\t\tif err != nil {\n\t\t\tcontinue\n\t\t}\n\t\tif resp.StatusCode != 200 {\n\t\t\tcontinue\n\t\t}\n\t\tresp.Body.Close()\n\t}\n\treturn nil\n}", "continues its loop"},
		{"func F(url string) ([]byte, error) {\n\tresp, err := http.Get(url) @\n\tif err != nil {\n\t\treturn nil, err\n\t}\n\tif resp.StatusCode == 200 {\n\t\tdefer resp.Body.Close()\n\t\treturn io.ReadAll(resp.Body)\n\t}\n\treturn nil, errStatus\n}", "returns on line"},
		{"func F(url string) (int, error) {\n\tresp, err := http.Get(url) @\n\tif resp != nil {\n\t\tdefer resp.Body.Close()\n\t}\n\tif err != nil {\n\t\treturn 0, err\n\t}\n\treturn resp.StatusCode, nil\n}", ""},
		{"func F(url string) (int, error) {\n\tresp, err := http.Get(url) @\n\tif err != nil {\n\t\treturn 0, err\n\t}\n\tdefer func() { _ = resp.Body.Close() }()\n\treturn resp.StatusCode, nil\n}", ""},
		{"func F(url string) (int, error) {\n\tresp, _, err := get(url) @\n\tif err != nil {\n\t\treturn 0, err\n\t}\n\treturn resp.StatusCode, nil\n}", ""},
		{"func F(url string) (resp *http.Response, err error) {\n\tresp, err = http.Get(url) @\n\treturn\n}", ""},
		{"func F(url string) (int, error) {\n\tvar resp *http.Response\n\terr := func() (err error) {\n\t\tresp, err = http.Get(url) @\n\t\treturn err\n\t}()\n\tif err != nil {\n\t\treturn 0, err\n\t}\n\tdefer resp.Body.Close()\n\treturn resp.StatusCode, nil\n}", ""},
		{"func F(url string) error {\n\tresp, err := http.Get(url) @\n\tif err != nil {\n\t\treturn err\n\t}\n\treturn resp.Body.Close()\n}", ""},
		{"func F(url string) error {\n\tresp, err := http.Get(url) @\n\tif err != nil {\n\t\treturn err\n\t}\n\tif resp.StatusCode == 200 {\n\t\tresp.Body.Close()\n\t\treturn nil\n\t} else {\n\t\tresp.Body.Close()\n\t}\n\treturn errStatus\n}", ""},
		{"func F(next http.RoundTripper, r *http.Request) (int, error) {\n\tresp, err := next.RoundTrip(r) @\n\tif err != nil {\n\t\treturn 0, err\n\t}\n\treturn resp.StatusCode, nil\n}", ""},
	}, open)
}

// TestReadAllKnownSizeShapes: readers whose length something in the program knows.
func TestReadAllKnownSizeShapes(t *testing.T) {
	const head = `import (
	"archive/tar"
	"archive/zip"
	"io"
	"mime/multipart"
	"net/http"
	"os"
)

type object struct {
	Body          io.ReadCloser
	ContentLength *int64
}

func fetch(resp *http.Response) ([]byte, error) { return readBody(resp.Body) }

func readBody(r io.Reader) ([]byte, error) {
	return io.ReadAll(r) //@ body | runtime.growslice io.ReadAll
}`
	checkShapes(t, readallknownsize.Rule(), head, "runtime.growslice io.ReadAll", 8192, []shape{
		{"func F(r *http.Request) ([]byte, error) { return io.ReadAll(r.Body) } @", "the body of a request"},
		{"func F(r *http.Request) ([]byte, error) { return io.ReadAll(io.LimitReader(r.Body, 1<<20)) } @", "r.ContentLength"},
		{"func F(w http.ResponseWriter, r *http.Request) ([]byte, error) {\n\tr.Body = http.MaxBytesReader(w, r.Body, 1<<20)\n\treturn io.ReadAll(r.Body) @\n}", "r.ContentLength"},
		{"func F(w http.ResponseWriter, r *http.Request) ([]byte, error) { return io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20)) } @", "r.ContentLength"},
		{"func F(f *zip.File) ([]byte, error) {\n\trc, err := f.Open()\n\tif err != nil {\n\t\treturn nil, err\n\t}\n\tdefer rc.Close()\n\treturn io.ReadAll(rc) @\n}", "f.UncompressedSize64"},
		{"func F(fh *multipart.FileHeader) ([]byte, error) {\n\tf, err := fh.Open()\n\tif err != nil {\n\t\treturn nil, err\n\t}\n\treturn io.ReadAll(f) @\n}", "fh.Size"},
		{"func F(tr *tar.Reader) ([]byte, error) { return io.ReadAll(tr) } @", "the Size in the header"},
		{"func F(o *object) ([]byte, error) { return io.ReadAll(o.Body) } @", "*o.ContentLength"},
		{"func F(name string) ([]byte, error) {\n\tf, err := os.Open(name)\n\tif err != nil {\n\t\treturn nil, err\n\t}\n\treturn io.ReadAll(f) @\n}", "os.ReadFile"},
		{"func F(f *os.File) ([]byte, error) { return io.ReadAll(io.LimitReader(f, 100)) } @", ""},
		{"func F(r io.Reader) ([]byte, error) { return io.ReadAll(r) } @", ""},
		{"func read_N(r io.Reader) ([]byte, error) {\n\treturn io.ReadAll(r) @\n}\n\nfunc F(resp *http.Response) ([]byte, error) { return read_N(resp.Body) }", "the body of a response"},
		{"func read_N(r io.Reader) ([]byte, error) {\n\treturn io.ReadAll(r) @\n}\n\nfunc F(resp *http.Response, r io.Reader) ([]byte, error) {\n\tif resp == nil {\n\t\treturn read_N(r)\n\t}\n\treturn read_N(resp.Body)\n}", ""},
	})
}

// TestSmallWritesShapes: pieces that are small, and loops in callers.
func TestSmallWritesShapes(t *testing.T) {
	const head = `import (
	"bufio"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"io"
	"iter"
	"net"
	"os"
	"strconv"
	"sync"
	"text/template"
)

var _ sync.Map

type entry struct {
	n    uint32
	text string
}

type journal struct {
	mu sync.Mutex
	f  *os.File
	of map[string]*os.File
}

type node struct {
	text string
	kids []*node
}

var (
	_ = fmt.Sprint
	_ = gob.Register
	_ = binary.Write
	_ = strconv.Itoa
	_ io.Reader
	_ *os.File
	_ bufio.Writer
	_ template.Template
	_ net.Conn
	_ iter.Seq[int]
)`
	checkShapes(t, smallwrites.Rule(), head, "syscall.write os.(*File).Write", 0, []shape{
		{"func F(f *os.File, ns []uint32) {\n\tvar b [4]byte\n\tfor _, n := range ns {\n\t\tbinary.BigEndian.PutUint32(b[:], n)\n\t\tf.Write(b[:]) @\n\t}\n}", "a system call for each piece"},
		{"func F(c net.Conn, es []entry) {\n\tbuf := make([]byte, 0, 64)\n\tfor _, e := range es {\n\t\tbuf = strconv.AppendUint(buf[:0], uint64(e.n), 10)\n\t\tbuf = append(buf, ' ')\n\t\tbuf = append(buf, e.text...)\n\t\tc.Write(buf) @\n\t}\n}", "a system call for each piece"},
		{"func F(w io.Writer, es []entry) {\n\tfor _, e := range es {\n\t\tw.Write(binary.BigEndian.AppendUint32(nil, e.n)) @\n\t}\n}", "a system call for each piece"},
		{"func F(f *os.File, es []entry) {\n\tfor _, e := range es {\n\t\tline_N(f, e)\n\t}\n}\n\nfunc line_N(w io.Writer, e entry) {\n\tw.Write([]byte(e.text)) @\n}", ""}, // not seen to be in the loop
		{"func F(f *os.File, es []entry) {\n\tfor _, e := range es {\n\t\tline_N(f, e) //: c_N\n\t}\n}\n\nfunc line_N(w io.Writer, e entry) {\n\tw.Write([]byte(e.text)) @ < c_N\n}", "The loop on line"},
		{"func F(f *os.File, all *sync.Map) {\n\tall.Range(func(k, _ any) bool {\n\t\tf.WriteString(k.(string)) @\n\t\treturn true\n\t})\n}", "a system call for each piece"},
		{"func F(all *sync.Map) {\n\tall.Range(func(_, v any) bool {\n\t\tf := v.(*os.File)\n\t\tf.WriteString(\"x\") @\n\t\treturn true\n\t})\n}", ""},
		{"func F(f *os.File, all [][]byte) {\n\tfor _, b := range all {\n\t\tf.Write(b) @\n\t}\n}", ""},
		{"func F(f *os.File, es []entry, n int) {\n\tvar buf []byte\n\tfor range n {\n\t\tbuf = buf[:0]\n\t\tfor _, e := range es {\n\t\t\tbuf = append(buf, e.text...)\n\t\t}\n\t\tf.Write(buf) @\n\t}\n}", ""},
	})
	checkShapes(t, smallwrites.Rule(), head, "syscall.write os.(*File).Write", 0, []shape{
		{"func F(j *journal, es []entry) {\n\tfor i := range es {\n\t\tj.add_N(es[i]) //: c_N\n\t}\n}\n\nfunc (j *journal) put_N(line []byte) error {\n\t_, err := j.f.Write(line) @ < b_N < c_N\n\treturn err\n}\n\nfunc (j *journal) add_N(e entry) error {\n\tj.mu.Lock()\n\tdefer j.mu.Unlock()\n\treturn j.put_N([]byte(e.text)) //: b_N\n}", "Put a bufio.Writer in front"},
		{"type sink_N interface{ add_N(entry) error }\n\nfunc F(s sink_N, es []entry) {\n\tfor i := range es {\n\t\ts.add_N(es[i]) //: c_N\n\t}\n}\n\nfunc (j *journal) put_N(line []byte) error {\n\t_, err := j.f.Write(line) @ < b_N < c_N\n\treturn err\n}\n\nfunc (j *journal) add_N(e entry) error {\n\tj.mu.Lock()\n\tdefer j.mu.Unlock()\n\treturn j.put_N([]byte(e.text)) //: b_N\n}", "a system call for each piece"},
		{"func F(js []*journal, e entry) {\n\tfor _, j := range js {\n\t\tj.add_N(e) //: c_N\n\t}\n}\n\nfunc (j *journal) put_N(line []byte) error {\n\t_, err := j.f.Write(line) @ < b_N < c_N\n\treturn err\n}\n\nfunc (j *journal) add_N(e entry) error {\n\tj.mu.Lock()\n\tdefer j.mu.Unlock()\n\treturn j.put_N([]byte(e.text)) //: b_N\n}", ""},
		{"func F(j *journal, es chan entry) {\n\tfor e := range es {\n\t\tj.add_N(e) //: c_N\n\t}\n}\n\nfunc (j *journal) put_N(line []byte) error {\n\t_, err := j.f.Write(line) @ < b_N < c_N\n\treturn err\n}\n\nfunc (j *journal) add_N(e entry) error {\n\tj.mu.Lock()\n\tdefer j.mu.Unlock()\n\treturn j.put_N([]byte(e.text)) //: b_N\n}", ""},
		{"func F(j *journal, e entry) { j.add_N(e) } //: c_N\n\nfunc (j *journal) put_N(line []byte) error {\n\t_, err := j.f.Write(line) @ < b_N < c_N\n\treturn err\n}\n\nfunc (j *journal) add_N(e entry) error {\n\tj.mu.Lock()\n\tdefer j.mu.Unlock()\n\treturn j.put_N([]byte(e.text)) //: b_N\n}", ""},
		{"func F(j *journal, es []entry) {\n\tfor i := range es {\n\t\tj.add_N(es[i]) //: c_N\n\t}\n}\n\nfunc (j *journal) put_N(line []byte) error {\n\t_, err := j.f.Write(line) @ < b_N < c_N\n\tif err == nil {\n\t\terr = j.f.Sync()\n\t}\n\treturn err\n}\n\nfunc (j *journal) add_N(e entry) error {\n\tj.mu.Lock()\n\tdefer j.mu.Unlock()\n\treturn j.put_N([]byte(e.text)) //: b_N\n}", ""},
		{"func F(j *journal, es []entry, all []byte) {\n\tfor i := range es {\n\t\tj.add_N(es[i]) //: c_N\n\t}\n\tj.put_N(all)\n}\n\nfunc (j *journal) put_N(line []byte) error {\n\t_, err := j.f.Write(line) @ < b_N < c_N\n\treturn err\n}\n\nfunc (j *journal) add_N(e entry) error {\n\tj.mu.Lock()\n\tdefer j.mu.Unlock()\n\treturn j.put_N([]byte(e.text)) //: b_N\n}", ""},
		{"func F(j *journal, es []entry) {\n\tdo := func(e entry) {\n\t\tj.f.WriteString(e.text) @ < l_N < c_N\n\t}\n\teach_N(es, do) //: c_N\n}\n\nfunc each_N(es []entry, f func(entry)) {\n\tfor _, e := range es {\n\t\tf(e) //: l_N\n\t}\n}", "a system call for each piece"},
		{"func F(j *journal, es []entry) {\n\tdo := func(e entry) {\n\t\tf := j.of[e.text]\n\t\tf.WriteString(e.text) @ < l_N < c_N\n\t}\n\teach_N(es, do) //: c_N\n}\n\nfunc each_N(es []entry, f func(entry)) {\n\tfor _, e := range es {\n\t\tf(e) //: l_N\n\t}\n}", ""},
		{"func F(j *journal, n *node) {\n\tdo := func(n *node) {\n\t\tj.f.WriteString(n.text) @ < l_N < r_N < c_N\n\t}\n\tn.visit_N(do) //: c_N\n}\n\nfunc (n *node) visit_N(f func(*node)) {\n\tf(n) //: l_N\n\tfor _, k := range n.kids {\n\t\tk.visit_N(f) //: r_N\n\t}\n}", "a system call for each piece"},
		{"func F(j *journal, es []entry) {\n\tfor e := range all_N(es) {\n\t\tj.line_N(e) //: b_N\n\t}\n}\n\nfunc (j *journal) line_N(e entry) {\n\tj.f.WriteString(e.text) @ < b_N < l_N\n}\n\nfunc all_N(es []entry) iter.Seq[entry] {\n\treturn func(yield func(entry) bool) {\n\t\tfor _, e := range es {\n\t\t\tif !yield(e) { //: l_N\n\t\t\t\treturn\n\t\t\t}\n\t\t}\n\t}\n}", "a system call for each piece"},
		{"func F(j *journal, es chan entry) {\n\tfor e := range all_N(es) {\n\t\tj.line_N(e) //: b_N\n\t}\n}\n\nfunc (j *journal) line_N(e entry) {\n\tj.f.WriteString(e.text) @ < b_N < l_N\n}\n\nfunc all_N(es chan entry) iter.Seq[entry] {\n\treturn func(yield func(entry) bool) {\n\t\tfor e := range es {\n\t\t\tif !yield(e) { //: l_N\n\t\t\t\treturn\n\t\t\t}\n\t\t}\n\t}\n}", ""},
		{"func F(d *dump_N[entry], es []entry) {\n\tfor _, e := range es {\n\t\td.put(e) //: b_N\n\t}\n}\n\ntype dump_N[T any] struct{ f *os.File }\n\nfunc (d *dump_N[T]) put(v T) {\n\tfmt.Fprintln(d.f, v) @ < b_N\n}", "a system call for each piece"},
	})
	checkShapes(t, smallwrites.Rule(), head, "syscall.write os.(*File).Write", 0, []shape{
		{"func F(f *os.File, es []entry) {\n\tt := &tally_N{to: f}\n\tfor _, e := range es {\n\t\tfmt.Fprintf(t, \"%d\", e.n) //: c_N\n\t}\n}\n\ntype tally_N struct{ to io.Writer }\n\nfunc (t *tally_N) Write(b []byte) (int, error) {\n\t_, err := t.to.Write(b) @ < fmt.Fprintf < c_N\n\treturn len(b), err\n}", "through Write,"},
		{"func F(f *os.File, e entry) {\n\tt := &tally_N{to: f}\n\tfmt.Fprintf(t, \"%d\", e.n) //: c_N\n}\n\ntype tally_N struct{ to io.Writer }\n\nfunc (t *tally_N) Write(b []byte) (int, error) {\n\t_, err := t.to.Write(b) @ < fmt.Fprintf < c_N\n\treturn len(b), err\n}", ""},
	})
	checkShapes(t, smallwrites.Rule(), head, "syscall.write os.(*File).Write encoding/binary.Write", 0, []shape{
		{"func F(f *os.File, es []entry) {\n\tfor _, e := range es {\n\t\tbinary.Write(f, binary.LittleEndian, e.n) @\n\t}\n}", "directly to f"},
		{"func F(f *os.File, e entry) {\n\tbinary.Write(f, binary.LittleEndian, e.n) @\n}", ""},
	})
	checkShapes(t, smallwrites.Rule(), head, "syscall.write os.(*File).Write encoding/gob.(*encoderState).write encoding/gob.(*Encoder).Encode", 0, []shape{
		{"func F(f *os.File, es []entry) {\n\tenc := gob.NewEncoder(f)\n\tfor _, e := range es {\n\t\tenc.Encode(e) @\n\t}\n}", "directly to f"},
	})
	const executes = "text/template.(*state).walk text/template.(*Template).execute text/template.(*Template).Execute"
	checkShapes(t, smallwrites.Rule(), head, "syscall.write os.(*File).Write "+executes, 0, []shape{
		{"func F(f *os.File, t *template.Template, es []entry) error { return t.Execute(f, es) } @", "each text and each value"},
	})
	checkShapes(t, smallwrites.Rule(), head, "syscall.write os.(*File).Write bufio.(*Writer).Flush bufio.(*Writer).Write "+executes, 0, []shape{
		{"func F(w *bufio.Writer, t *template.Template, es []entry) error { return t.Execute(w, es) } @", ""},
	})
}

// TestSmallReadsShapes: buffers whose length callers or constructors give.
func TestSmallReadsShapes(t *testing.T) {
	const head = `import (
	"io"
	"net"
)

type session struct {
	conn   net.Conn
	header []byte
}

func newSession(c net.Conn) *session { return &session{conn: c, header: make([]byte, 8)} }`
	checkShapes(t, smallreads.Rule(), head, "syscall.read net.(*conn).Read io.ReadAtLeast io.ReadFull", 0, []shape{
		{"func F(c net.Conn) error {\n\tvar h [4]byte\n\t_, err := io.ReadFull(c, h[:]) @\n\treturn err\n}", "reads 4 bytes"},
		{"func F(s *session) error {\n\t_, err := io.ReadFull(s.conn, s.header) @\n\treturn err\n}", "reads 8 bytes"},
		{"func F(s *session) error {\n\t_, err := io.ReadFull(s.conn, s.header[:2]) @\n\treturn err\n}", "reads 2 bytes"},
		{"func F(c net.Conn) ([]byte, error) {\n\tif b, err := read_N(c, 2); err != nil {\n\t\treturn b, err\n\t}\n\treturn read_N(c, 4)\n}\n\nfunc read_N(r io.Reader, n int) ([]byte, error) {\n\tb := make([]byte, n)\n\t_, err := io.ReadFull(r, b) @\n\treturn b, err\n}", "reads 4 bytes"},
		{"func F(c net.Conn, n int) ([]byte, error) {\n\tif b, err := read_N(c, 2); err != nil {\n\t\treturn b, err\n\t}\n\treturn read_N(c, n)\n}\n\nfunc read_N(r io.Reader, n int) ([]byte, error) {\n\tb := make([]byte, n)\n\t_, err := io.ReadFull(r, b) @\n\treturn b, err\n}", ""},
		{"func F(c net.Conn) error {\n\th := make([]byte, 64<<10)\n\t_, err := io.ReadFull(c, h) @\n\treturn err\n}", ""},
	})
}

// TestSQLOpenPerCallShapes: pools that a function opens, closes or abandons.
func TestSQLOpenPerCallShapes(t *testing.T) {
	const head = `import (
	"context"
	"database/sql"
)

type store struct{ db *sql.DB }

func (s *store) Close() error { return s.db.Close() }

func (s *store) count() (n int) {
	s.db.QueryRow("SELECT count(*) FROM t").Scan(&n)
	return n
}

var (
	shared *sql.DB
	_      context.Context
)`
	checkShapes(t, sqlopenpercall.Rule(), head, "database/sql.Open", 512, []shape{
		{"func F() (n int) {\n\tdb, _ := sql.Open(\"x\", \"\") @\n\tdefer db.Close()\n\tdb.QueryRow(\"q\").Scan(&n)\n\treturn n\n}", "closes it again"},
		{"func F() (n int) {\n\tdb, _ := sql.Open(\"x\", \"\") @\n\tdefer func() { _ = db.Close() }()\n\tdb.QueryRow(\"q\").Scan(&n)\n\treturn n\n}", "closes it again"},
		{"func F() (n int) {\n\tdb, err := sql.Open(\"x\", \"\") @\n\tif err != nil {\n\t\treturn 0\n\t}\n\tdb.QueryRow(\"q\").Scan(&n)\n\treturn n\n}", "never closes it"},
		{"func F() (n int) {\n\ts := open_N()\n\tdefer s.Close()\n\treturn s.count()\n}\n\nfunc open_N() *store {\n\tdb, _ := sql.Open(\"x\", \"\") @\n\treturn &store{db: db}\n}", "closes it again"},
		{"func F() (n int) {\n\ts := open_N()\n\tdefer s.Close()\n\treturn 1\n}\n\nfunc open_N() *sql.DB {\n\tdb, _ := sql.Open(\"x\", \"\") @\n\treturn db\n}", "through open"},
		{"func F() (n int) {\n\topen_N().QueryRow(\"q\").Scan(&n)\n\treturn n\n}\n\nfunc open_N() *sql.DB {\n\tdb, _ := sql.Open(\"x\", \"\") @\n\tshared = db\n\treturn db\n}", ""},
		{"func F() *store {\n\tdb, _ := sql.Open(\"x\", \"\") @\n\tdb.SetMaxOpenConns(9)\n\treturn &store{db}\n}", ""},
		{"func F() *store {\n\tdb, _ := sql.Open(\"x\", \"\") @\n\ts := &store{}\n\ts.db = db\n\treturn s\n}", ""},
		{"func F() *sql.Row {\n\tdb, _ := sql.Open(\"x\", \"\") @\n\treturn db.QueryRow(\"q\")\n}", ""},
	})
}

// TestSQLPreparePerQueryShapes: statements that are executed once.
func TestSQLPreparePerQueryShapes(t *testing.T) {
	const head = `import (
	"context"
	"database/sql"
)

var _ context.Context

const query = "SELECT n FROM t WHERE id = ?"

type store struct{ db *sql.DB }`
	checkShapes(t, sqlprepareperquery.Rule(), head, "database/sql.(*DB).Prepare", 0, []shape{
		{"func F(db *sql.DB) (n int) {\n\tst, _ := db.Prepare(query) @\n\tdefer func() { _ = st.Close() }()\n\tst.QueryRow(3).Scan(&n)\n\treturn n\n}", "executes it once"},
		{"func F(s *store) (n int) {\n\tst := s.prepare_N(query)\n\tdefer st.Close()\n\tst.QueryRow(3).Scan(&n)\n\treturn n\n}\n\nfunc (s *store) prepare_N(q string) *sql.Stmt {\n\tst, _ := s.db.Prepare(q) @\n\treturn st\n}", "through prepare"},
		{"func F(s *store) (n int) {\n\tst := s.prepare_N(query)\n\tdefer st.Close()\n\tfor i := range 100 {\n\t\tst.QueryRow(i).Scan(&n)\n\t}\n\treturn n\n}\n\nfunc (s *store) prepare_N(q string) *sql.Stmt {\n\tst, _ := s.db.Prepare(q) @\n\treturn st\n}", ""},
	})
	checkShapes(t, sqlprepareperquery.Rule(), head, "database/sql.(*Conn).PrepareContext", 0, []shape{
		{"func F(ctx context.Context, c *sql.Conn) (n int) {\n\tst, _ := c.PrepareContext(ctx, query) @\n\tdefer st.Close()\n\tst.QueryRowContext(ctx, 3).Scan(&n)\n\treturn n\n}", "executes it once"},
	})
}

// TestUnbufferedLogShapes: loggers of other modules that write each line, or write into a buffer.
func TestUnbufferedLogShapes(t *testing.T) {
	const head, says = "func log(...any) {}", "writes each line of this event directly"
	for _, c := range []struct{ stack, says string }{
		{"syscall.write os.(*File).Write go.uber.org/zap/zapcore.(*lockedWriteSyncer).Write go.uber.org/zap/zapcore.(*ioCore).Write go.uber.org/zap.(*Logger).Info", "zap " + says},
		{"syscall.write os.(*File).Write gopkg.in/natefinch/lumberjack%2ev2.(*Logger).Write go.uber.org/zap/zapcore.(*ioCore).Write go.uber.org/zap.(*Logger).Info", "zap " + says},
		{"syscall.write os.(*File).Write bufio.(*Writer).Flush bufio.(*Writer).Write go.uber.org/zap/zapcore.(*BufferedWriteSyncer).Write go.uber.org/zap.(*Logger).Info", ""},
		{"syscall.write os.(*File).Write github.com/rs/zerolog.LevelWriterAdapter.WriteLevel github.com/rs/zerolog.(*Event).msg", "zerolog " + says},
		{"syscall.write os.(*File).Write io.(*multiWriter).Write github.com/sirupsen/logrus.(*Entry).write github.com/sirupsen/logrus.(*Entry).Infof", "logrus " + says},
		{"encoding/json.Marshal github.com/sirupsen/logrus.(*Entry).write github.com/sirupsen/logrus.(*Entry).Infof", ""},
	} {
		checkShapes(t, unbufferedlog.Rule(), head, c.stack, 0, []shape{{"func F(n int) { log(n) } @", c.says}})
	}
}
