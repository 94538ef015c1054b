package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/hone-go/hone/internal/live"
)

// kinds are recordings of three kinds of programs, made by the commands that users type.
type kinds struct {
	env                   Env
	batch, service, bench string
	again                 map[string]string // each recorded once more
	functions             map[string]string // one of each, that costs something
}

// unpackPrograms writes the programs of testdata/ui to a directory. The service is to listen on
// the port.
func unpackPrograms(t *testing.T) (dir, port string) {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", "ui", "programs.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	if port, err = freePort(); err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	for _, f := range archive.Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, bytes.ReplaceAll(f.Data, []byte("PORT"), []byte(port)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir, port
}

// recordKinds builds and records the programs.
func recordKinds(t *testing.T) kinds {
	t.Helper()
	live.Only(t)
	dir, port := unpackPrograms(t)
	k := kinds{env: Env{Getenv: os.Getenv, CacheDir: t.TempDir(), Dir: dir, Version: "test"}}
	k.batch, k.service, k.bench = filepath.Join(dir, "batch.hone"), filepath.Join(dir, "service.hone"), filepath.Join(dir, "bench.hone")
	k.functions = map[string]string{k.batch: "main.joined", k.service: "main.pad", k.bench: "example.com/bench.Reverse"}
	k.again = map[string]string{}
	for path, args := range map[string][]string{
		k.batch:   {"./batch", "-duration", "3s"},
		k.service: {"./service", "-duration", "6s", "-warmup", "200ms", "-load", filepath.Join(dir, "service", "targets.txt"), "-rate", "200", "--", "-addr", "127.0.0.1:" + port},
		k.bench:   {"./bench", "-duration", "3s", "-bench", "."},
	} {
		k.again[path] = strings.TrimSuffix(path, ".hone") + "-again.hone"
		k.run(t, append([]string{"record", "-q", "-o", path}, args...)...)
		k.run(t, append([]string{"record", "-q", "-phases", "cpu", "-o", k.again[path]}, args...)...)
	}
	return k
}

// run runs a command and returns what it prints.
func (k kinds) run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := k.try(t, args...)
	if err != nil {
		t.Fatalf("hone %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// try is run of a command that may fail.
func (k kinds) try(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	b := uiBackend{env: k.env}
	err := b.Run(t.Context(), &out, args...)
	return out.String(), err
}
