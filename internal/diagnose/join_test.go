package diagnose

import (
	"strings"
	"testing"
)

func TestJoinNotes(t *testing.T) {
	j := &Join{
		CPU:      &JoinParts{Joined: 0.9, Unjoined: 0.1},
		Bytes:    &JoinParts{Joined: 1},
		Unjoined: []Unjoined{{What: "libz.so", Why: "it has no symbols", CPU: 0.08}, {What: "x", CPU: 0.02}},
	}
	notes := joinNotes(j)
	if len(notes) != 1 || notes[0] != "10 % of CPU samples ended at no line and in no named bucket; 8.0 % libz.so (it has no symbols)" {
		t.Errorf("%q", notes)
	}
	j.CPU.Joined = 0.96
	if notes := joinNotes(j); len(notes) != 0 {
		t.Errorf("%q", notes)
	}
	if joinNotes(nil) != nil {
		t.Error("no join, no notes")
	}
}

// TestJoinOfAPass: code about which the compiler was not asked is listed with the reason.
func TestJoinOfAPass(t *testing.T) {
	p := pass()
	s := at("main.f", "f.go", 1)
	s.CPU = append(s.CPU, cpu(100, "main.f"))
	s.CPU[0].Stack[0].Owner, s.CPU[0].Stack[0].Line = s.Owner, 1
	s.Cost.CPUSeconds = 1
	p.Table.Sites = append(p.Table.Sites, s)
	j := join(p)
	if j == nil || j.CPU == nil || j.CPU.Main != 1 || j.Bytes != nil || j.Entries == nil || *j.Entries != 1 {
		t.Fatalf("%+v", j)
	}
	if f := j.Facts; f.Share != 0 || len(f.Lacking) != 1 || !strings.Contains(f.Lacking["example.com/app"], "not asked") {
		t.Errorf("%+v", f)
	}
}
