package tunedeps

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// require runs go get for the versions found. If it fails or ctx ends, go.mod and go.sum are
// restored.
func require(ctx context.Context, dir string, modules []Module) error {
	args := []string{"get"}
	for _, m := range modules {
		if m.Cure != nil {
			args = append(args, m.Path+"@"+m.Cure.Version)
		}
	}
	if len(args) == 1 {
		return nil
	}
	cmd := exec.CommandContext(ctx, "go", "env", "GOMOD")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("find go.mod: %w", err)
	}
	mod := strings.TrimSpace(string(out))
	restore, err := remember(mod, filepath.Join(filepath.Dir(mod), "go.sum"))
	if err != nil {
		return err
	}
	cmd = exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.WaitDelay = dir, 5*time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return errors.Join(fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, bytes.TrimSpace(out)), restore())
	}
	for i := range modules {
		modules[i].Required = modules[i].Cure != nil
	}
	return nil
}

// remember returns a function that gives files the contents that they have now.
func remember(names ...string) (restore func() error, err error) {
	was := map[string][]byte{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		was[name] = text // nil: there is none
	}
	return func() (err error) {
		for name, text := range was {
			if now, rerr := os.ReadFile(name); rerr == nil && text != nil && bytes.Equal(now, text) || rerr != nil && text == nil {
				continue
			}
			if text == nil {
				err = errors.Join(err, os.Remove(name))
				continue
			}
			err = errors.Join(err, os.WriteFile(name, text, 0o644))
		}
		return err
	}, nil
}
