package load

import "fmt"

// memoryLimit limits connections by memory: with socket buffers on both sides and a goroutine, each
// takes about 30 KB, so all stay below half a gigabyte.
const memoryLimit = 16384

// connectionLimit returns the number of connections that this process may open to one address, and
// what limits it.
func connectionLimit() (int, string) {
	limit, why := memoryLimit, "to bound memory"
	// Leave some files and ports to the rest of this process and to others.
	if files, ok := openFiles(); ok {
		if usable := files - files/10 - min(64, files/2); usable < uint64(limit) {
			limit, why = int(usable), fmt.Sprintf("of %d open files", files)
		}
	}
	if ports, ok := ephemeralPorts(); ok && ports-ports/10 < limit {
		limit, why = ports-ports/10, fmt.Sprintf("of %d ephemeral ports", ports)
	}
	return max(limit, 1), why
}
