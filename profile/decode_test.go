package profile_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	google "github.com/google/pprof/profile"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/profiletest"
	"github.com/hone-go/hone/profile/report"
)

// msg writes protobuf by hand: field numbers with numbers, texts or messages.
func msg(fields ...any) []byte {
	var b []byte
	for i := 0; i < len(fields); i += 2 {
		num := uint64(fields[i].(int))
		switch v := fields[i+1].(type) {
		case int:
			b = append(varint(b, num<<3), varint(nil, uint64(v))...)
		case uint64:
			b = append(varint(b, num<<3), varint(nil, v)...)
		case string:
			b = append(varint(varint(b, num<<3|2), uint64(len(v))), v...)
		case []byte:
			b = append(varint(varint(b, num<<3|2), uint64(len(v))), v...)
		}
	}
	return b
}

func varint(b []byte, v uint64) []byte {
	for ; v >= 0x80; v >>= 7 {
		b = append(b, byte(v)|0x80)
	}
	return append(b, byte(v))
}

// header is the start of a valid profile: one type, one function, one location.
func header() []byte {
	return msg(1, msg(1, 1, 2, 2), 6, "", 6, "cpu", 6, "ns", 6, "f", 5, msg(1, 1, 2, 3), 4, msg(1, 1, 4, msg(1, 1)))
}

func TestDecodeTakesEveryCompression(t *testing.T) {
	raw := append(header(), msg(2, msg(1, 1, 2, 7))...)
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"raw": raw, "gzip": profiletest.Zip(t, raw), "zstd": enc.EncodeAll(raw, nil)} {
		p, err := profile.Decode(bytes.NewReader(data), 0)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if p.NumSamples() != 1 || p.Values(0)[0] != 7 {
			t.Errorf("%s: %d samples", name, p.NumSamples())
		}
	}
}

func TestErrorsSayWhatAndWhere(t *testing.T) {
	base := len(header())
	with := func(fields ...any) []byte { return append(header(), msg(fields...)...) }
	long := make([]byte, 600)
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "the profile is empty"},
		{"zip archive", []byte("PK\x03\x04rest"), "this is a zip archive, not a profile"},
		{"heap text", []byte("heap profile: 1: 2 [3: 4] @ heap/1048576\n1: 2"), "Go's legacy text format"},
		{"gzip'd heap text", profiletest.Zip(t, []byte("heap profile: 1: 2 [3: 4] @ heap/1048576\n1: 2")), "Go's legacy text format"},
		{"goroutine dump", []byte("goroutine 1 [running]:\nmain.main()\n"), `first line "goroutine 1 [running]:"); it is Go's legacy text format: fetch it again without debug=1`},
		{"error page", []byte("404 page not found\n"), `not a binary profile but text (first line "404 page not found")`},
		{"web page", []byte("<!DOCTYPE html>\n<title>Überblick</title>"), "not a binary profile but text"},
		{"zeros", make([]byte, 100), "profile at byte 0: broken field tag"},
		{"cut field", with(2, msg(1, 1, 2, 7))[:base+4], "sample at byte 34: the profile ends inside it, after 2 of 4 bytes"},
		{"cut unknown field", append(header(), varint(varint(nil, 99<<3|2), 1000)...), "unknown field 99 at byte 34: the profile ends inside it"},
		{"length beyond the limit", append(header(), varint(varint(nil, 2<<3|2), 1<<40)...), "sample at byte 34: claims 1099511627776 bytes"},
		{"location 0", with(2, msg(1, 0, 2, 7)), "sample 0: location_id at byte 36: 0 is not a location"},
		{"unknown location", with(2, msg(1, 1, 2, 7), 2, msg(1, 9, 2, 7)), "sample 1: refers to location 9, which the profile does not have"},
		{"huge location", with(2, msg(1, uint64(1)<<63, 2, 7)), "sample 0: refers to location 9223372036854775808"},
		{"too few values", with(2, msg(1, 1)), "sample_type: there are 1 types, but the samples have 0 values"},
		{"other number of values", with(2, msg(1, 1, 2, 7), 2, msg(1, 1, 2, 7, 2, 7)), "sample 1: value at byte 48: there are 2 values, the previous samples have 1"},
		{"values for no type", append(msg(6, ""), msg(2, msg(2, 1))...), "sample_type: there are 0 types, but the samples have 1 values"},
		{"neither values nor types", append(msg(6, ""), msg(2, "")...), "sample_type: is missing"},
		{"broken varint", with(2, msg(1, "\xff\xff")), "sample 0: location_id at byte 36: broken varint"},
		{"label beyond sample", with(2, "\x1a\x7f"), "sample 0: body at byte 36: field 3 reaches beyond its message"},
		{"label text", with(2, msg(1, 1, 2, 7, 3, msg(1, 77, 2, 1))), "label: refers to string 77 of 4"},
		{"line without function", with(4, msg(1, 2, 4, msg(2, 5))), "location: line at byte 42: has no function"},
		{"unknown function", with(4, msg(1, 2, 4, msg(1, 5))), "location 2: refers to function 5"},
		{"function twice", with(5, msg(1, 1)), "function: two entries have the id 1"},
		{"location twice", with(4, msg(1, 3), 4, msg(1, 3)), "location: two entries have the id 3"},
		{"mapping 0", with(3, msg(2, 1)), "mapping: entry 0 has the id 0"},
		{"string out of range", with(7, 50), "profile: refers to string 50 of 4"},
		{"negative string", with(15, ^uint64(0)), "doc_url at byte 34: string index -1 is out of range"},
		{"first string", msg(6, "x"), `string_table at byte 0: its first entry is "x", but must be empty`},
		{"number for a message", with(2, 7), "sample at byte 34: wire type 0 instead of a message"},
		{"message for a number", with(12, "abc"), "period at byte 34: wire type 2 instead of a number"},
		{"group", append(header(), 0x0b), "sample_type at byte 34: wire type 3 is not used in profiles"},
		{"two profiles", with(9, 5, 9, 6), "time_nanos at byte 36: occurs twice: two profiles in one file"},
		{"cut gzip", profiletest.Zip(t, long)[:5], "inflate gzip'd profile"},
		{"cut gzip with content", profiletest.Zip(t, bytes.Repeat(header(), 1))[:40], "the stream is cut off after"},
		{"broken checksum", flip(profiletest.Zip(t, with(2, msg(1, 1, 2, 7))), 6), "inflate gzip'd profile after"},
		{"cut zstd", []byte("\x28\xb5\x2f\xfd\x04"), "zstd"},
	} {
		_, err := profile.Decode(bytes.NewReader(c.data), 0)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is\n\t%v\nwant\n\t%s", c.name, err, c.want)
		}
	}
}

// flip inverts the byte that is n bytes before the end.
func flip(b []byte, n int) []byte {
	b[len(b)-n] ^= 0x55
	return b
}

func TestErrorKinds(t *testing.T) {
	_, err := profile.Decode(strings.NewReader("goroutine profile: total 3\n"), 0)
	if !errors.Is(err, profile.ErrText) {
		t.Errorf("text: %v", err)
	}
	_, err = profile.Decode(bytes.NewReader(append(header(), 0x0b)), 0)
	var syntax *profile.SyntaxError
	if !errors.As(err, &syntax) || syntax.Offset != int64(len(header())) || syntax.Field != "sample_type" {
		t.Errorf("broken field: %#v", err)
	}
	broken := errors.New("connection reset")
	if _, err = profile.Decode(io.MultiReader(bytes.NewReader(header()), failingReader{broken}), 0); !errors.Is(err, broken) {
		t.Errorf("broken reader: %v", err)
	}
}

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

func TestMaxBytesBoundsTheInflatedProfile(t *testing.T) {
	raw := append(header(), msg(99, make([]byte, 300_000))...)
	if _, err := profile.Decode(bytes.NewReader(profiletest.Zip(t, raw)), int64(len(raw))); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	if _, err := profile.Decode(bytes.NewReader(profiletest.Zip(t, raw)), int64(len(raw)-1)); !errors.Is(err, profile.ErrTooLarge) {
		t.Errorf("beyond the limit: %v", err)
	}
	if _, err := profile.Decode(bytes.NewReader(raw), 1000); !errors.Is(err, profile.ErrTooLarge) && err == nil {
		t.Errorf("raw beyond the limit: %v", err)
	}
}

// bomb is a gzip stream of a few kilobytes that inflates to a valid profile of some size: the same
// sample repeated, one mebibyte per gzip member.
func bomb(t testing.TB, size int) []byte {
	t.Helper()
	sample := msg(2, msg(1, 1, 2, 7))
	member := profiletest.Zip(t, bytes.Repeat(sample, 1<<20/len(sample)))
	return append(profiletest.Zip(t, header()), bytes.Repeat(member, size>>20)...)
}

func TestBombIsRefused(t *testing.T) {
	data := bomb(t, 64<<20)
	_, err := profile.Decode(bytes.NewReader(data), 0)
	if !errors.Is(err, profile.ErrTooLarge) || !strings.Contains(err.Error(), "times as much") {
		t.Errorf("%d bytes that inflate to 64 MiB: %v", len(data), err)
	}
}

// TestHostileCountsCostNoMemory: large counts without data behind them allocate little.
func TestHostileCountsCostNoMemory(t *testing.T) {
	for name, data := range map[string][]byte{
		"sample of 1 GiB":       append(header(), varint(varint(nil, 2<<3|2), 1<<30)...),
		"string of 1 GiB":       append(header(), varint(varint(nil, 6<<3|2), 1<<30)...),
		"location id near 2⁶³":  append(header(), msg(4, msg(1, uint64(1)<<62))...),
		"location id near 2³¹":  append(header(), msg(4, msg(1, 1<<31-1))...),
		"sample's id near 2³¹":  append(header(), msg(2, msg(1, 1<<31-1, 2, 7))...),
		"function id near 2⁶⁴":  append(header(), msg(5, msg(1, ^uint64(0)))...),
		"string index near 2³¹": append(header(), msg(14, 1<<31-1)...),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _ = profile.Decode(bytes.NewReader(data), 0)
		runtime.ReadMemStats(&after)
		allocated := after.TotalAlloc - before.TotalAlloc
		if allocated > 2<<20 {
			t.Errorf("%s: %d bytes allocated for %d bytes of input", name, allocated, len(data))
		}
	}
}

// TestEveryCutIsAnError cuts a recorded profile everywhere: nothing panics, and a compressed
// profile that is cut off is always an error.
func TestEveryCutIsAnError(t *testing.T) {
	data := profiletest.Record()["goroutine"]
	for n := range data {
		if _, err := profile.Decode(bytes.NewReader(data[:n]), 0); err == nil {
			t.Fatalf("the first %d of %d bytes decode", n, len(data))
		}
	}
}

// TestStacksOfAnyLength exceeds the column's page size.
func TestStacksOfAnyLength(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	g := &google.Profile{SampleType: []*google.ValueType{{Type: "n", Unit: "count"}}, PeriodType: &google.ValueType{}, TimeNanos: 1}
	for i := range 300 {
		fn := &google.Function{ID: uint64(i + 1), Name: "f" + strings.Repeat("x", i)}
		g.Function = append(g.Function, fn)
		g.Location = append(g.Location, &google.Location{ID: uint64(i+1) * 1000, Line: []google.Line{{Function: fn}}})
	}
	for _, n := range []int{0, 1, 1023, 1025, 65535, 3, 65536, 65537, 200_000, 64, 0} {
		s := &google.Sample{Value: []int64{int64(n)}}
		for range n {
			s.Location = append(s.Location, g.Location[r.IntN(len(g.Location))])
		}
		g.Sample = append(g.Sample, s)
	}
	p := profiletest.FromGoogle(t, g)
	var buf []int32
	for row, s := range g.Sample {
		buf = p.Stack(row)
		if len(buf) != len(s.Location) {
			t.Fatalf("sample %d has %d frames, want %d", row, len(buf), len(s.Location))
		}
		for i, l := range buf {
			if g.Location[l] != s.Location[i] {
				t.Fatalf("sample %d frame %d is location %d", row, i, l)
			}
		}
	}
}

// TestUnpackedFieldsEqualPacked reads what proto2 writers write.
func TestUnpackedFieldsEqualPacked(t *testing.T) {
	ids := []any{}
	packed := []byte{}
	for range 70_000 {
		ids = append(ids, 1, 1)
		packed = varint(packed, 1)
	}
	one := msg(append(ids, 2, 7)...)
	for name, sample := range map[string][]byte{
		"unpacked": one,
		"packed":   msg(1, packed, 2, 7),
		"mixed":    msg(1, packed[:100], 1, 1, 1, packed[101:], 2, "\x07"),
	} {
		p, err := profile.Decode(bytes.NewReader(append(header(), msg(2, sample, 2, msg(1, 1, 2, 1))...)), 0)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if n, m := len(p.Stack(0)), len(p.Stack(1)); n != 70_000 || m != 1 {
			t.Errorf("%s: stacks of %d and %d frames", name, n, m)
		}
	}
}

// FuzzDecode compares with google/pprof: what google/pprof reads, Decode reads as the same profile;
// what it refuses, Decode refuses, except for ids of mappings.
func FuzzDecode(f *testing.F) {
	f.Add(header())
	f.Add(append(header(), msg(2, msg(1, 1, 2, 7, 3, msg(1, 1, 2, 2), 3, msg(1, 3, 3, 5, 4, 2)), 3, msg(1, 1, 2, 4096, 3, 8192, 5, 3, 7, 1))...))
	f.Add(append(header(), msg(4, msg(1, uint64(1)<<40, 2, 9, 3, 77, 4, msg(1, 1, 2, 5, 3, 6), 5, 1), 2, msg(1, uint64(1)<<40, 2, ^uint64(0)))...))
	f.Add([]byte("heap profile: 1: 2 [3: 4] @ heap/1048576\n"))
	f.Add(profiletest.Zip(f, header()))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := profile.Decode(bytes.NewReader(data), 1<<20)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := p.Encode(&b); err != nil {
			t.Fatal(err)
		}
		if _, err := google.ParseData(b.Bytes()); err != nil {
			t.Fatalf("google/pprof refuses what was decoded: %v", err)
		}
		again, err := profile.Decode(&b, 0)
		if err != nil {
			t.Fatalf("decode what was encoded: %v", err)
		}
		if g, err := google.ParseUncompressed(data); err == nil && g.CheckValid() == nil {
			profiletest.Same(t, "decoded profile", profiletest.Reparse(t, profiletest.Reparse(t, g)), profiletest.ToGoogle(t, again))
		}
		if len(p.SampleTypes) > 0 {
			if _, err := report.Top(p, report.TopOptions{Granularity: profile.ByLine}); err != nil {
				t.Fatal(err)
			}
			if _, err := profile.Subtract(p, again, profile.Subtraction{}); err != nil {
				t.Fatal(err)
			}
		}
	})
}
