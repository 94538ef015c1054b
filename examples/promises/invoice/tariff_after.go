//go:build fix_tariff

package invoice

import "strconv"

var prices = newTariff()

// Render writes a line for each delivery and the sum in cents.
func Render(deliveries []Delivery) []byte {
	b := make([]byte, 0, 64*len(deliveries))
	sum := 0
	for _, d := range deliveries {
		cents := prices.of(d)
		sum += cents
		b = append(b, plainName(d.Name)...)
		b = append(b, ", "...)
		b = append(b, prices.zone(d)...)
		b = append(b, ' ')
		b = strconv.AppendInt(b, int64(cents), 10)
		b = append(b, '\n')
	}
	b = append(b, "sum "...)
	return append(strconv.AppendInt(b, int64(sum), 10), '\n')
}
