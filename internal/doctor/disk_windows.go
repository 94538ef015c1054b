package doctor

import "golang.org/x/sys/windows"

// freeBytes returns how much this user may still write to the disk of dir.
func freeBytes(dir string) (n uint64, known bool) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, false
	}
	if err := windows.GetDiskFreeSpaceEx(path, &n, nil, nil); err != nil {
		return 0, false
	}
	return n, true
}
