//go:build fix_sprintf

package invoice

import "strconv"

// key names a place in a tariff.
func key(zone, class int) string {
	return "zone " + strconv.Itoa(zone) + ", class " + strconv.Itoa(class)
}
