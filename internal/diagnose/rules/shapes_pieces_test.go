package rules_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	smallreads "github.com/hone-go/hone/internal/diagnose/rules/small-reads"
	smallwrites "github.com/hone-go/hone/internal/diagnose/rules/small-writes"
	"github.com/hone-go/hone/internal/recording"
)

// each returns what completes a recording in which each line ran so often that one execution took
// some nanoseconds.
func each(ns uint64) func(*rule.Pass) {
	return func(p *rule.Pass) {
		p.Manifest.Phases = []recording.Phase{{Name: recording.PhaseCPU, Requests: 1}, {Name: recording.PhaseCounts, Requests: 1}}
		n := 1_000_000_000 / ns
		p.Counts = ranLoops(n/1000, 1000)
	}
}

// TestSmallReadsPassedOn: the code that asks for a few bytes is above a reader that passes reads
// on, or counts and cost show how little is read.
func TestSmallReadsPassedOn(t *testing.T) {
	const head = `import (
	"encoding/binary"
	"io"
	"net"
	"os"
)

type tally struct {
	r io.Reader
	n int64
}

func (t *tally) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	t.n += int64(n)
	return n, err
}

var (
	_ net.Conn
	_ *os.File
	_ = binary.Read
)`
	const passes = "func (t *tally_N) Read(p []byte) (int, error) {\n\tn, err := t.r.Read(p) @"
	const rest = "\n\tt.n += int64(n)\n\treturn n, err\n}\n\ntype tally_N struct {\n\tr io.Reader\n\tn int64\n}\n\n"
	cases := []shape{
		{"func F(f *os.File) { read_N(&tally_N{r: f}) }\n\n" + passes + " < io.ReadFull < c_N" + rest + "func read_N(r io.Reader) {\n\tvar h [4]byte\n\tio.ReadFull(r, h[:]) //: c_N\n}", "reads of 4 bytes"},
		{passes + " < c_N" + rest + "type bytes_N struct{ r io.Reader; one []byte }\n\nfunc (b *bytes_N) ReadByte() (byte, error) {\n\t_, err := b.r.Read(b.one) //: c_N\n\treturn b.one[0], err\n}\n\nfunc F(f *os.File) *bytes_N { return &bytes_N{&tally_N{r: f}, make([]byte, 1)} }", "reads of 1 byte"},
		{passes + " < io.(*LimitedReader).Read < c_N" + rest + "func F(f *os.File) {\n\tvar b [16]byte\n\tio.LimitReader(&tally_N{r: f}, 100).Read(b[:]) //: c_N\n}", "reads of 16 bytes"},
		{passes + " < encoding/binary.Read < c_N" + rest + "func F(f *os.File) (x uint32) {\n\tbinary.Read(&tally_N{r: f}, binary.LittleEndian, &x) //: c_N\n\treturn x\n}", "reads of 4 bytes"},
		{passes + " < bufio.(*Reader).fill < bufio.(*Reader).ReadByte" + rest + "func F(f *os.File) *tally_N { return &tally_N{r: f} }", ""},
		{passes + " < io.copyBuffer < io.Copy" + rest + "func F(f *os.File) *tally_N { return &tally_N{r: f} }", ""},
		{passes + " < c_N" + rest + "func F(f *os.File) {\n\tb := make([]byte, 64<<10)\n\t(&tally_N{r: f}).Read(b) //: c_N\n}", ""},
		{passes + rest + "func F(f *os.File) *tally_N { return &tally_N{r: f} }", ""},
	}
	checkShapes(t, smallreads.Rule(), head, "syscall.read os.(*File).Read", 0, cases)
	checkShapes(t, smallreads.Rule(), head, "syscall.read net.(*conn).Read", 0, []shape{
		{"func F(c net.Conn) {\n\tvar h [4]byte\n\tio.ReadFull(&tally_N{r: c}, h[:]) //: c_N\n}\n\n" + passes + " < io.ReadFull < c_N" + rest, "reads of 4 bytes"},
	})
	unknown := []shape{
		{"func F(f *os.File, n int) {\n\tfor range n {\n\t\tb := make([]byte, n)\n\t\tf.Read(b) @\n\t}\n}", "little at a time"},
		{passes + rest + "func F(f *os.File) *tally_N { return &tally_N{r: f} }", "small reads"},
		{"type fill_N struct {\n\tbuf []byte\n\tw int\n}\n\nfunc F(b *fill_N, f *os.File) {\n\tfor {\n\t\tn, _ := f.Read(b.buf[b.w:]) @\n\t\tb.w += n\n\t}\n}", ""},
	}
	checkShapesIn(t, smallreads.Rule(), head, "syscall.read os.(*File).Read", 0, unknown, each(450))
	for i := range unknown {
		unknown[i].says = ""
	}
	checkShapesIn(t, smallreads.Rule(), head, "syscall.read os.(*File).Read", 0, unknown, each(1500))
	checkShapesIn(t, smallreads.Rule(), head, "syscall.read net.(*conn).Read", 0, unknown, each(450))
}

// TestSmallWritesSent: items in memory that are sent one by one; a protocol with replies has to.
func TestSmallWritesSent(t *testing.T) {
	const head = `import (
	"bufio"
	"io"
	"net"
	"time"
)

type point struct {
	name string
	n    int
}

func (p *point) appendTo(b []byte) ([]byte, error) { return append(b, p.name...), nil }

type sender struct {
	to   io.Writer
	conn net.PacketConn
	addr net.Addr
	in   *bufio.Reader
	buf  []byte
	next chan point
}

var _ = time.Now`
	const send = "func (s *sender) put_N(p *point) error {\n\ts.buf, _ = p.appendTo(s.buf[:0])\n\t_, err := s.to.Write(s.buf) @ < c_N\n\treturn err\n}"
	const packet = "func (s *sender) put_N(p *point) error {\n\ts.buf, _ = p.appendTo(s.buf[:0])\n\t_, err := s.to.Write(s.buf) @ < b_N < c_N\n\treturn err\n}\n\nfunc (s *sender) ask_N(p *point) string {\n\ts.put_N(p) //: b_N\n\tl, _ := s.in.ReadString('\\n')\n\treturn l\n}"
	sent := []shape{
		{"func F(s *sender, ps []point) {\n\tfor i := range ps {\n\t\ts.buf, _ = ps[i].appendTo(s.buf[:0])\n\t\ts.to.Write(s.buf) @\n\t}\n}", "Collect the pieces in a buffer"},
		{"func F(s *sender, ps []point) {\n\tfor i := range ps {\n\t\ts.put_N(&ps[i]) //: c_N\n\t}\n}\n\n" + send, "Collect the pieces in a buffer"},
		{"func F(s *sender, ps map[string]*point) {\n\tfor _, p := range ps {\n\t\ts.put_N(p) //: c_N\n\t}\n}\n\n" + send, "Collect the pieces in a buffer"},
		{"func F(s *sender, ps []point) {\n\tfor i := range ps {\n\t\ts.ask_N(&ps[i]) //: c_N\n\t}\n}\n\n" + packet, ""},
		{"type asker_N interface{ ask_N(p *point) string }\n\nfunc F(s asker_N, ps []point) {\n\tfor i := range ps {\n\t\ts.ask_N(&ps[i]) //: c_N\n\t}\n}\n\n" + packet, ""},
		{"func F(s *sender, ps []point) {\n\tfor i := range ps {\n\t\ts.put_N(&ps[i]) //: c_N\n\t\ts.reply_N()\n\t}\n}\n\nfunc (s *sender) reply_N() string {\n\tl, _ := s.in.ReadString('\\n')\n\treturn l\n}\n\n" + send, ""},
		{"func F(s *sender) {\n\tfor p := range s.next {\n\t\ts.put_N(&p) //: c_N\n\t}\n}\n\n" + send, ""},
		{"func F(s *sender, p *point) {\n\tfor range time.Tick(time.Second) {\n\t\ts.put_N(p) //: c_N\n\t}\n}\n\n" + send, ""},
		{"func F(all []*sender, p *point) {\n\tfor _, s := range all {\n\t\ts.put_N(p) //: c_N\n\t}\n}\n\n" + send, ""},
		{"func F(s *sender, pages [][]byte) {\n\tfor _, p := range pages {\n\t\ts.to.Write(p) @\n\t}\n}", ""},
		{"func F(s *sender, p *point) { s.put_N(p) } //: c_N\n\n" + send, ""},
	}
	const write = "syscall.write net.(*conn).Write"
	checkShapesIn(t, smallwrites.Rule(), head, write, 0, sent, each(3500))
	known := []shape{
		{"func F(s *sender, ps []point) {\n\tfor _, p := range ps {\n\t\ts.to.Write([]byte(p.name)) @\n\t\ts.wait_N()\n\t}\n}\n\nfunc (s *sender) wait_N() { s.in.ReadByte() }", ""},
	}
	checkShapes(t, smallwrites.Rule(), head, write, 0, known)
	packets := []shape{
		{"func F(s *sender, ps []point) {\n\tfor i := range ps {\n\t\ts.buf, _ = ps[i].appendTo(s.buf[:0])\n\t\ts.conn.WriteTo(s.buf, s.addr) @\n\t}\n}", "1,400 bytes"},
		{"func F(s *sender, ps []point) {\n\tfor i := range ps {\n\t\ts.conn.WriteTo([]byte(ps[i].name), s.addr) @\n\t}\n}", "WriteBatch"},
		{"func F(s *sender, ps []point) {\n\tfor i := range ps {\n\t\tb := marshal_N(&ps[i])\n\t\ts.conn.WriteTo(b, s.addr) @\n\t}\n}\n\nfunc marshal_N(p *point) []byte { return []byte(p.name) }", ""},
		{"func F(s *sender, p *point, to []net.Addr) {\n\tfor _, a := range to {\n\t\ts.buf, _ = p.appendTo(s.buf[:0])\n\t\ts.conn.WriteTo(s.buf, a) @\n\t}\n}", ""},
	}
	checkShapesIn(t, smallwrites.Rule(), head, "syscall.sendto net.(*UDPConn).WriteTo", 0, packets, each(3500))
	const pack = "\n\nfunc marshal_N(p *point) []byte { return []byte(p.name) }"
	dialled := []shape{
		{"func F(u *net.UDPConn, ps []point) {\n\tfor i := range ps {\n\t\tb := marshal_N(&ps[i])\n\t\tu.Write(b) @\n\t}\n}" + pack, ""},
		{"func F(u *net.TCPConn, ps []point) {\n\tfor i := range ps {\n\t\tb := marshal_N(&ps[i])\n\t\tu.Write(b) @\n\t}\n}" + pack, "bufio.Writer"},
		{"func F(addr string, ps []point) {\n\tu, _ := net.Dial(\"udp\", addr)\n\tfor i := range ps {\n\t\tb := marshal_N(&ps[i])\n\t\tu.Write(b) @\n\t}\n}" + pack, ""},
		{"func F(addr string, ps []point) {\n\tu, _ := net.Dial(\"tcp\", addr)\n\tfor i := range ps {\n\t\tb := marshal_N(&ps[i])\n\t\tu.Write(b) @\n\t}\n}" + pack, "bufio.Writer"},
	}
	checkShapesIn(t, smallwrites.Rule(), head, write, 0, dialled, each(3500))
	for _, s := range [][]shape{sent, packets} {
		for i := range s {
			s[i].says = ""
		}
	}
	checkShapesIn(t, smallwrites.Rule(), head, write, 0, sent, each(12_000)) // large pieces
	checkShapes(t, smallwrites.Rule(), head, write, 0, sent)                 // not counted
}
