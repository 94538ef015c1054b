package invoice

import (
	"strconv"
	"testing"
)

func deliveries(n int) (list []Delivery) {
	for i := range n {
		list = append(list, Delivery{Zone: i * 5, Weight: 300 * i, Name: "Parcel; number " + strconv.Itoa(i)})
	}
	return list
}

func TestAnswers(t *testing.T) {
	for _, tc := range []struct {
		list []Delivery
		want string
	}{
		{nil, "sum 0\n"},
		{deliveries(3), "Parcel, number 0, Zone, number 0 390\nParcel, number 1, Zone, number 5 940\nParcel, number 2, Zone, number 2 610\nsum 1940\n"},
		{[]Delivery{{13, 99999, "a\tb\r\nc"}}, "a b  c, Zone, number 5 4615\nsum 4615\n"},
	} {
		for range 2 {
			if got := string(Render(tc.list)); got != tc.want {
				t.Errorf("%v: %q, want %q", tc.list, got, tc.want)
			}
		}
	}
}

func BenchmarkRender(b *testing.B) {
	list := deliveries(12)
	for b.Loop() {
		Render(list)
	}
}
