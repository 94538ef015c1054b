package load

// openFiles: Windows has no such limit for sockets.
func openFiles() (uint64, bool) { return 0, false }

// ephemeralPorts returns the size of the default dynamic range, 49152 to 65535.
func ephemeralPorts() (int, bool) { return 16384, true }
