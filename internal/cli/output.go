package cli

import (
	"fmt"
	"os"
	"path/filepath"
)

// redirect runs with a file instead of standard output. The file is replaced when the output is
// complete. A path that exists and is not a regular file (a device, a pipe) is written to directly.
func redirect(env Env, name string, run func(Env) error) error {
	if name == "" || name == "-" {
		return run(env)
	}
	path := absolute(env.Dir, name)
	f, finish, err := openOutput(path)
	if err != nil {
		return fmt.Errorf("-o %s: %w", name, err)
	}
	env, flush := env.plainStdout(f)
	err = run(env)
	if e := flush(); err == nil {
		err = e
	}
	if e := finish(err == nil); err == nil && e != nil {
		err = fmt.Errorf("-o %s: %w", name, e)
	}
	return err
}

// openOutput opens a temporary file for the output to path. finish closes it, and with keep renames
// it to path.
func openOutput(path string) (f *os.File, finish func(keep bool) error, err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		if f, err = os.OpenFile(path, os.O_WRONLY, 0); err != nil {
			return nil, nil, err
		}
		return f, func(bool) error { return f.Close() }, nil
	}
	if f, err = os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"); err != nil {
		return nil, nil, err
	}
	return f, func(keep bool) error {
		err := f.Close()
		if err == nil && keep {
			if err = os.Chmod(f.Name(), 0o644); err == nil {
				err = os.Rename(f.Name(), path)
			}
		}
		os.Remove(f.Name()) // fails if it was renamed
		return err
	}, nil
}
