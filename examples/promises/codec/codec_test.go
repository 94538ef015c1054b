package codec

import (
	"bytes"
	"reflect"
	"strconv"
	"testing"
)

func records(n int) (list []Record) {
	for i := range n {
		r := Record{Name: "machine.temperature.of.the.cabinet." + strconv.Itoa(i), Value: 20 + float64(i%97)/8}
		for j := range 6 + i%6 {
			r.Labels = append(r.Labels, "a label of some length, number "+strconv.Itoa(i*j))
		}
		list = append(list, r)
	}
	return list
}

func TestAnswers(t *testing.T) {
	for _, n := range []int{0, 1, 100} {
		list := records(n)
		var b bytes.Buffer
		if err := Encode(&b, list); err != nil {
			t.Fatal(err)
		}
		got, err := Decode(b.Bytes())
		if err != nil || len(got) != n || n > 0 && !reflect.DeepEqual(got, list) {
			t.Errorf("%d records came back as %v, %v", n, got, err)
		}
	}
	var b bytes.Buffer
	if err := Encode(&b, []Record{{"a", 1.5, []string{"x", ""}}, {"", -2, nil}}); err != nil || b.String() != "a\t1.5\tx\t\n\t-2\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
	for _, text := range []string{"a\n", "a\tb\n"} {
		if _, err := Decode([]byte(text)); err == nil {
			t.Errorf("%q was decoded", text)
		}
	}
}

func BenchmarkRoundTrip(b *testing.B) {
	list := records(500)
	var buf bytes.Buffer
	for b.Loop() {
		buf.Reset()
		if err := Encode(&buf, list); err != nil {
			b.Fatal(err)
		}
		if _, err := Decode(buf.Bytes()); err != nil {
			b.Fatal(err)
		}
	}
}
