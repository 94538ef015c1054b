package profile_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/profiletest"
)

func TestInflateGivesTheBytes(t *testing.T) {
	text := bytes.Repeat([]byte("main.main;main.f 1\n"), 40_000)
	for name, data := range map[string][]byte{"plain": text, "gzip": profiletest.Zip(t, text)} {
		r, err := profile.Inflate(bytes.NewReader(data), 0)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(got, text) {
			t.Errorf("%s: %d bytes, %v; want %d", name, len(got), err, len(text))
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		short, err := profile.Inflate(bytes.NewReader(data), 1000)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, short); err == nil || n > 512<<10 {
			t.Errorf("%s: %d bytes in spite of the limit, %v", name, n, err)
		}
	}
}

func heapOf(t *testing.T, at int64, values ...[]int64) *profile.Profile {
	t.Helper()
	b := profile.NewBuilder(
		profile.ValueType{Type: "alloc_objects", Unit: "count"}, profile.ValueType{Type: "alloc_space", Unit: "bytes"},
		profile.ValueType{Type: "inuse_objects", Unit: "count"}, profile.ValueType{Type: "inuse_space", Unit: "bytes"},
	)
	for i, v := range values {
		b.Add([]profile.FrameSpec{{Function: string(rune('a' + i))}}, v...)
	}
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	p.TimeNanos = at
	return p
}

func TestDeltaSubtractsSumsAndKeepsStates(t *testing.T) {
	before := heapOf(t, 1e9, []int64{5, 50, 3, 30}, []int64{1, 10, 1, 10}, []int64{9, 90, 9, 90})
	after := heapOf(t, 3e9, []int64{7, 70, 1, 10}, []int64{1, 10, 0, 0}, []int64{9, 90, 9, 90})
	d, err := profile.Subtract(after, before, profile.Subtraction{Counters: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int64{2, 20, 10, 100} {
		if got := d.Total(i); got != want {
			t.Errorf("%s: %d, want %d", d.SampleTypes[i].Type, got, want)
		}
	}
	if d.NumSamples() != 2 {
		t.Errorf("%d samples, want 2: b neither allocated nor is in use", d.NumSamples())
	}
	if d.TimeNanos != 1e9 || d.DurationNanos != 2e9 {
		t.Errorf("from %d for %d", d.TimeNanos, d.DurationNanos)
	}
	if before.Total(3) != 130 {
		t.Error("the profile before was changed")
	}
}

func TestSplitKeepsStacksAndGivesLabels(t *testing.T) {
	p := heapOf(t, 0, []int64{5, 50, 3, 30}, []int64{1, 10, 1, 10})
	q := p.Split(func(row int) []profile.Part {
		if row == 1 {
			return nil
		}
		return []profile.Part{
			{Labels: []profile.Label{{Key: "state", Str: "x"}}, Values: []int64{2, 20, 0, 0}},
			{Values: []int64{3, 30, 3, 30}},
		}
	})
	if q.NumSamples() != 2 || len(q.Labels(0)) != 1 || len(q.Labels(1)) != 0 || q.Total(1) != 50 || p.NumSamples() != 2 || p.Total(1) != 60 {
		t.Errorf("%d rows, labels %v and %v, total %d; before %d, %d", q.NumSamples(), q.Labels(0), q.Labels(1), q.Total(1), p.NumSamples(), p.Total(1))
	}
	var b bytes.Buffer
	if err := q.Encode(&b); err != nil {
		t.Fatal(err)
	}
	if again, err := profile.Decode(&b, 0); err != nil || again.Labels(0)[0] != q.Labels(0)[0] {
		t.Errorf("read again: %v", err)
	}
}

func TestBuilderTakesAddressesAndBinaries(t *testing.T) {
	b := profile.NewBuilder()
	b.AddType(profile.ValueType{Type: "cycles", Unit: "count"})
	b.Add([]profile.FrameSpec{{Address: 7, Binary: "/bin/a"}, {Function: "main", Address: 9, Binary: "/bin/a"}}, 4)
	if i := b.AddType(profile.ValueType{Type: "misses", Unit: "count"}); i != 1 {
		t.Errorf("the second type has the index %d", i)
	}
	b.Add([]profile.FrameSpec{{Function: "main"}}, 1, 2)
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	loc := p.Locations[p.Stack(0)[0]]
	if loc.Address != 7 || len(loc.Lines) != 0 || p.Mappings[loc.Mapping].File != "/bin/a" {
		t.Errorf("location %+v", loc)
	}
	if p.Values(1)[0] != 0 || p.Values(1)[1] != 2 || p.Locations[p.Stack(1)[0]].Mapping != -1 {
		t.Errorf("values %v", p.Values(1))
	}
}
