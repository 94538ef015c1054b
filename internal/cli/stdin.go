package cli

import (
	"io"
	"os"
	"path/filepath"
)

// piped returns hone's standard input if it is a pipe or a file: what a program that is measured shall
// read. Of a terminal, /dev/null and the like it is nil, and the program reads nothing.
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

// absoluteFile is a file's path relative to dir, made absolute; "" stays.
func absoluteFile(dir, name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}
