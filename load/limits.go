package load

import "fmt"

// memoryLimit of connections: with buffers on both sides of the socket and a
// goroutine each they take some 30 KB, so this many stay below half a gigabyte.
const memoryLimit = 16384

// connectionLimit returns how many connections this process may open to one
// address, and what sets the limit.
func connectionLimit() (int, string) {
	limit, why := memoryLimit, "to bound memory"
	// Some files and ports are needed by others, in this process and beside it.
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
