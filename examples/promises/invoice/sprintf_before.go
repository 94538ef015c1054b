//go:build !fix_sprintf

package invoice

import "fmt"

// key names a place in a tariff.
func key(zone, class int) string {
	return fmt.Sprintf("zone %d, class %d", zone, class)
}
