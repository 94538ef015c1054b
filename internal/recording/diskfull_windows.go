package recording

import (
	"errors"

	"golang.org/x/sys/windows"
)

// diskFull reports whether err means that the disk or the user's quota is full.
func diskFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}
