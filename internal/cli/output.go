package cli

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// redirect obeys pprof's -output: it runs with the file in the place of
// standard output. A command with an -o of its own gets the name there. The
// file appears when the report is whole.
func redirect(env Env, fs *flag.FlagSet, run func(Env) error) error {
	output := fs.Lookup("output")
	if output == nil || output.Value.String() == "" {
		return run(env)
	}
	name := output.Value.String()
	if fs.Lookup("o") != nil {
		if err := fs.Set("o", name); err != nil {
			return usagef("-output: %v", err)
		}
		return run(env)
	}
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return fmt.Errorf("-output %s: %w", name, err)
	}
	defer os.Remove(f.Name()) // it is renamed when all went well
	env, flush := env.plainStdout(f)
	err = run(env)
	if e := flush(); err == nil {
		err = e
	}
	if closed := f.Close(); err == nil && closed != nil {
		err = fmt.Errorf("-output %s: %w", name, closed)
	}
	if err != nil {
		return err
	}
	if err := os.Chmod(f.Name(), 0o644); err != nil {
		return fmt.Errorf("-output %s: %w", name, err)
	}
	return os.Rename(f.Name(), name)
}
