package cli

import (
	"io"
	"os"
	"path/filepath"
)

// piped returns hone's standard input if it is a pipe or a file: the input of the measured program.
// For a terminal, /dev/null and the like it returns nil, and the program reads nothing.
func piped(stdin io.Reader) io.Reader {
	f, ok := stdin.(*os.File)
	if !ok {
		return nil
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 && !info.Mode().IsRegular() {
		return nil
	}
	return f
}

// absoluteFile makes a file's path, relative to dir, absolute; "" remains "".
func absoluteFile(dir, name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}
