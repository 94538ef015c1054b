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

// zones is the number of zones of a tariff, classes that of its classes of weight.
const (
	zones   = 8
	classes = 8
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

// zone is the name of the zone of a delivery.
func (t *tariff) zone(d Delivery) string { return t.names[d.Zone%zones] }
