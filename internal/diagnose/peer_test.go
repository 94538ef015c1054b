package diagnose

import (
	"testing"

	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/covdata"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/site"
)

// runsOf returns counts for one line of the program's files each, per unit of work.
func runsOf(lines map[string]uint64) *counts.Index {
	meta := &covdata.Meta{Packages: []covdata.Package{{Path: "example.com/app"}}}
	var n [][]uint64
	for file, times := range lines {
		fn := covdata.Func{Name: "f", File: "example.com/app/" + file, Blocks: []covdata.Block{{StartLine: 1, StartColumn: 1, EndLine: 1, EndColumn: 80, Statements: 1}}}
		meta.Packages[0].Funcs = append(meta.Packages[0].Funcs, fn)
		n = append(n, []uint64{times})
	}
	return counts.New(meta, []counts.Window{{Units: 1, Counts: covdata.Counts{n}}})
}

// ends returns rows of a service that sends in one goroutine and receives in another, which takes
// three times as much CPU.
func ends(receive string) (*rule.Pass, rule.Match) {
	send, read := at("main.send", "send.go", 1), at("main.read", "read.go", 1)
	frame := func(s *site.Site, function string) *site.Row {
		n := int64(100)
		if s == read {
			n = 300
		}
		return &site.Row{Stack: []*site.Frame{{Function: function}, &s.Frame}, Owner: 1, Count: n, Value: n * period}
	}
	send.CPU = []*site.Row{frame(send, "net.(*conn).Write")}
	read.CPU = []*site.Row{frame(read, receive)}
	p := pass()
	p.Table.Sites = []*site.Site{send, read}
	return p, rule.Match{Site: send, CPU: send.CPU}
}

// TestPeer: what receives the messages in the same process is part of what fewer messages may save.
func TestPeer(t *testing.T) {
	const receive = "net.(*netFD).Read"
	for _, c := range []struct {
		name    string
		receive string
		sends   bool
		sent    uint64
		read    uint64
		most    bool // the upper bound includes the receiver
	}{
		{"as often", receive, true, 150, 151, true},
		{"packets are dropped", receive, true, 150, 90, true},
		{"of many senders", receive, true, 150, 2000, false},
		{"less often", receive, true, 150, 10, false},
		{"not in a loop", receive, true, 1, 1, false},
		{"no connection", "bytes.(*Buffer).Read", true, 150, 150, false},
		{"no message", receive, false, 150, 150, false},
	} {
		p, m := ends(c.receive)
		p.Counts = runsOf(map[string]uint64{"send.go": c.sent, "read.go": c.read})
		r := claiming(finds("messages", m), func(of *rule.Claim) { of.Sends = c.sends })
		report := diagnose(t, p, r)
		if len(report.Findings) != 1 {
			t.Fatalf("%s: %d findings", c.name, len(report.Findings))
		}
		s := report.Findings[0].Saving
		if got := s.High > 0.25; got != c.most {
			t.Errorf("%s: saves %+v", c.name, *s)
		}
		if s.Low > 0.08 {
			t.Errorf("%s: saves at least %.3f, more than the line costs", c.name, s.Low)
		}
	}
}

// TestPeerOfOthers: what another finding has is not the other end of this one.
func TestPeerOfOthers(t *testing.T) {
	p, m := ends("net.(*netFD).Read")
	p.Counts = runsOf(map[string]uint64{"send.go": 150, "read.go": 150})
	read := p.Table.Sites[1]
	report := diagnose(t, p,
		claiming(finds("messages", m), func(c *rule.Claim) { c.Sends = true }),
		finds("other", rule.Match{Site: read, CPU: read.CPU}))
	for _, f := range report.Findings {
		if f.Rule == "messages" && f.Saving.High > 0.15 {
			t.Errorf("saves %+v, with what another finding has", *f.Saving)
		}
	}
}
