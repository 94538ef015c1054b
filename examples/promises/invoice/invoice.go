// Package invoice prices deliveries. Its benchmark is one of the programs of this module: making
// the tariff costs much, and has two mistakes inside.
package invoice

import "strconv"

// Delivery is a parcel that was sent.
type Delivery struct {
	Zone   int
	Weight int // grams
	Name   string
}

// Render writes a line for each delivery and the sum in cents.
func Render(deliveries []Delivery) []byte {
	prices := current()
	b := make([]byte, 0, 64*len(deliveries))
	sum := 0
	for _, d := range deliveries {
		cents := prices.of(d)
		sum += cents
		b = append(b, plainName(d.Name)...)
		b = append(b, ", "...)
		b = append(b, prices.names[d.Zone%zones]...)
		b = append(b, ' ')
		b = strconv.AppendInt(b, int64(cents), 10)
		b = append(b, '\n')
	}
	b = append(b, "sum "...)
	return append(strconv.AppendInt(b, int64(sum), 10), '\n')
}

// zones is the number of zones of a tariff, classes that of its classes of weight.
const (
	zones   = 12
	classes = 5
)

// tariff has a name for each zone, and a price in cents for each zone and class.
type tariff struct {
	names []string
	cents map[string]int
}

func newTariff() *tariff {
	t := &tariff{names: make([]string, 0, zones), cents: make(map[string]int, zones*classes)}
	for zone := range zones {
		t.names = append(t.names, plainName("Zone; number "+strconv.Itoa(zone)))
		for class := range classes {
			t.cents[key(zone, class)] = 390 + 110*zone + 75*class*class
		}
	}
	return t
}

// of is the price of a delivery.
func (t *tariff) of(d Delivery) int {
	return t.cents[key(d.Zone%zones, min(d.Weight/1000, classes-1))]
}
