package load

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// parsed is what a parser read from a stream.
type parsed struct {
	Status   int
	Consumed int  // bytes up to the end of the answer
	Close    bool // the connection cannot be used again
}

func ours(stream []byte, head bool, wrap func(io.Reader) io.Reader) (parsed, error) {
	r := newReader(wrap(bytes.NewReader(stream)))
	a, err := r.read(head)
	return parsed{a.status, int(r.in) - (r.w - r.r), a.close}, err
}

// oracle reads the same stream with net/http.
func oracle(stream []byte, head bool) (parsed, error) {
	req := &http.Request{Method: "GET"}
	if head {
		req.Method = "HEAD"
	}
	src := bytes.NewReader(stream)
	b := bufio.NewReader(src)
	for range maxInterim {
		res, err := http.ReadResponse(b, req)
		if err != nil {
			return parsed{}, err
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			return parsed{}, err
		}
		if res.StatusCode >= 200 || res.StatusCode == 101 {
			return parsed{res.StatusCode, len(stream) - src.Len() - b.Buffered(), res.Close}, nil
		}
	}
	return parsed{}, errors.New("too many interim answers")
}

func plain(r io.Reader) io.Reader { return r }

const long = "X-Long: " // + many

var answers = []struct {
	name, in string
	head     bool
	want     parsed // Consumed is counted from the end: bytes left over
}{
	{"length", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP", false, parsed{200, 4, false}},
	{"no reason", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", false, parsed{200, 0, false}},
	{"bare newlines", "HTTP/1.1 200 OK\nContent-Length: 2\n\nok!", false, parsed{200, 1, false}},
	{"case and space", "HTTP/1.1 404 Not Found\r\ncONTENT-lENGTH:\t 3 \r\n\r\nabc", false, parsed{404, 0, false}},
	{"chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n..", false, parsed{200, 2, false}},
	{"trailers", "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n1\r\na\r\n0\r\nX: y\r\nZ: w\r\n\r\n.", false, parsed{200, 1, false}},
	{"chunked beats length", "HTTP/1.1 200 OK\r\nContent-Length: 900\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false, parsed{200, 0, false}},
	{"close", "HTTP/1.1 200 OK\r\nConnection: foo, Close\r\nContent-Length: 1\r\n\r\nx", false, parsed{200, 0, true}},
	{"until close", "HTTP/1.1 200 OK\r\n\r\neverything else", false, parsed{200, 0, true}},
	{"until close, nothing", "HTTP/1.1 200 OK\r\n\r\n", false, parsed{200, 0, true}},
	{"http/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", false, parsed{200, 0, true}},
	{"http/1.0 kept", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nxy", false, parsed{200, 1, false}},
	{"head", "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n", true, parsed{200, 0, false}},
	{"head chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", true, parsed{200, 0, false}},
	{"204", "HTTP/1.1 204 No Content\r\n\r\n", false, parsed{204, 0, false}},
	{"304", "HTTP/1.1 304 Not Modified\r\nContent-Length: 12\r\n\r\n", false, parsed{304, 0, false}},
	{"interim", "HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n", false, parsed{201, 0, false}},
	{"lengths agree", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx", false, parsed{200, 0, false}},
	{"long line", "HTTP/1.1 200 OK\r\n" + long + strings.Repeat("x", 3*readBuffer) + "\r\nContent-Length: 1\r\n\r\nx", false, parsed{200, 0, false}},
	{"long body", "HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n" + strings.Repeat("x", 300000) + "!", false, parsed{200, 1, false}},
	{"long chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20000\r\n" + strings.Repeat("x", 0x20000) + "\r\n0\r\n\r\n!", false, parsed{200, 1, false}},
}

func TestAnswersAreFramedAsNetHTTPFramesThem(t *testing.T) {
	for _, c := range answers {
		t.Run(c.name, func(t *testing.T) {
			want := c.want
			want.Consumed = len(c.in) - want.Consumed
			for name, wrap := range map[string]func(io.Reader) io.Reader{
				"at once": plain, "byte by byte": iotest.OneByteReader, "data with EOF": iotest.DataErrReader,
			} {
				got, err := ours([]byte(c.in), c.head, wrap)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("%s (-want +got):\n%s", name, d)
				}
			}
			ref, err := oracle([]byte(c.in), c.head)
			if err != nil {
				t.Fatalf("net/http: %v", err)
			}
			if d := cmp.Diff(ref, want); d != "" {
				t.Errorf("the test expects something other than net/http says (-net/http +test):\n%s", d)
			}
		})
	}
}

func TestBrokenAnswersAreErrors(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "", "EOF"},
		{"cut status", "HTTP/1.1 20", "unexpected EOF"},
		{"cut header", "HTTP/1.1 200 OK\r\nContent-", "unexpected EOF"},
		{"cut body", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", "unexpected EOF"},
		{"cut chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", "unexpected EOF"},
		{"no last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n", "unexpected EOF"},
		{"other protocol", "SSH-2.0-OpenSSH_9.6\r\n", `"SSH-2.0-OpenSSH_9.6" is not a status line`},
		{"http/2", "HTTP/2 200\r\n\r\n", "is not a status line"},
		{"odd status", "HTTP/1.1 2x0 OK\r\n\r\n", "is not a status line"},
		{"status 099", "HTTP/1.1 099 OK\r\n\r\n", "is not a status line"},
		{"long status", "HTTP/1.1 2000 OK\r\n\r\n", "is not a status line"},
		{"no colon", "HTTP/1.1 200 OK\r\nfoo\r\n\r\n", `"foo" is not a header line`},
		{"space before colon", "HTTP/1.1 200 OK\r\nContent-Length : 3\r\n\r\nabc", "is not a header line"},
		{"negative length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", `Content-Length "-1"`},
		{"no length", "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", `Content-Length ""`},
		{"huge length", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", "Content-Length"},
		{"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "two Content-Lengths, 1 and 2"},
		{"chunk size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", `"xyz" is not the size of a chunk`},
		{"huge chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", "is not the size of a chunk"},
		{"chunk too long", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n", "continues with"},
		{"endless header", "HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", maxHeader/5), "a header of more than"},
		{"endless line", "HTTP/1.1 200 OK\r\nA: " + strings.Repeat("b", 2*maxHeader), "a header of more than"},
		{"endless interim", strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 40), "interim answers"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ours([]byte(c.in), false, plain)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %+v and error %v, want an error with %q", got, err, c.want)
			}
			if want := map[bool]ErrorKind{true: ErrEOF, false: ErrMalformed}[strings.HasSuffix(c.want, "EOF")]; kindOf(err) != want {
				t.Errorf("counted as %q, want %q", kindOf(err), want)
			}
		})
	}
}

// The parser delimits whatever net/http's server writes as net/http's client does.
func TestWrittenAnswersComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var stream bytes.Buffer
		type sent struct {
			head   bool
			status int
		}
		var want []sent
		for range rapid.IntRange(1, 5).Draw(t, "answers") {
			s := sent{rapid.Bool().Draw(t, "head"), rapid.SampledFrom([]int{200, 201, 204, 304, 404, 500}).Draw(t, "status")}
			body := rapid.SliceOfN(rapid.Byte(), 0, 9000).Draw(t, "body")
			req := &http.Request{Method: "GET"}
			if s.head {
				req.Method = "HEAD"
			}
			res := &http.Response{
				StatusCode: s.status, ProtoMajor: 1, ProtoMinor: 1, Request: req,
				Header: http.Header{"X": {strings.Repeat("v", rapid.IntRange(0, 6000).Draw(t, "header"))}},
				Body:   io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
			}
			switch bare := s.status == 204 || s.status == 304; {
			case bare:
				res.Body, res.ContentLength = http.NoBody, 0
			case rapid.Bool().Draw(t, "chunked"):
				res.ContentLength = -1
				res.TransferEncoding = []string{"chunked"}
			}
			if err := res.Write(&stream); err != nil {
				t.Fatal(err)
			}
			want = append(want, s)
		}
		r := newReader(iotest.HalfReader(&stream))
		for i, w := range want {
			a, err := r.read(w.head)
			if err != nil {
				t.Fatalf("answer %d: %v", i, err)
			}
			if a.status != w.status || a.close {
				t.Fatalf("answer %d: status %d close %v, want %d and open", i, a.status, a.close, w.status)
			}
		}
		if err := r.await(); err != io.EOF {
			t.Fatalf("after the last answer: %v, want EOF", err)
		}
	})
}

func FuzzAnswer(f *testing.F) {
	for _, c := range answers {
		if len(c.in) < 2000 {
			f.Add([]byte(c.in), c.head)
		}
	}
	f.Fuzz(func(t *testing.T, in []byte, head bool) {
		got, err := ours(in, head, plain)
		slow, slowErr := ours(in, head, iotest.OneByteReader)
		if fmt.Sprint(err) != fmt.Sprint(slowErr) || err == nil && got != slow {
			t.Fatalf("at once %+v %v, byte by byte %+v %v", got, err, slow, slowErr)
		}
		if err != nil {
			return
		}
		if got.Consumed > len(in) {
			t.Fatalf("consumed %d of %d bytes", got.Consumed, len(in))
		}
		// Each parser rejects something that the other accepts; where both accept, they must agree.
		if ref, err := oracle(in, head); err == nil && ref.Close == got.Close && ref != got {
			t.Fatalf("got %+v, net/http says %+v", got, ref)
		}
	})
}
