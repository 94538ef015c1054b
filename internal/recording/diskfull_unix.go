//go:build unix

package recording

import (
	"errors"
	"syscall"
)

// diskFull reports whether err means that the disk or the user's quota is full.
func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
