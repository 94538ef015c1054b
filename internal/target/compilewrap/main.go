// Command compilewrap runs between the go command and its tools (go build -toolexec). It gives
// the compiler other files for the packages that package target marked, and changes nothing else.
//
// Package target embeds this file and builds it with the target's toolchain. A marked package is
// compiled with the flag -hone0inputs=NAME, which is part of the build cache's key for the result.
// The tools' versions stay the same, so all other packages come from the cache. NAME is a file
// below $HONE0_INPUTS: a JSON object from source files to their replacements.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) < 2 {
		fail(errors.New("no tool to run: it is for go build -toolexec"))
	}
	args, err := arguments(os.Args[1:], os.Getenv("HONE0_INPUTS"))
	if err != nil {
		fail(err)
	}
	tool := exec.Command(args[0], args[1:]...)
	tool.Stdin, tool.Stdout, tool.Stderr = os.Stdin, os.Stdout, os.Stderr
	var exit *exec.ExitError
	if err := tool.Run(); errors.As(err, &exit) {
		os.Exit(max(1, exit.ExitCode()))
	} else if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "hone's wrapper of the compiler:", err)
	os.Exit(1)
}

// arguments removes the mark from a command line and inserts the files that it refers to.
func arguments(args []string, dir string) ([]string, error) {
	var out []string
	name := ""
	for _, a := range args {
		if n, ok := strings.CutPrefix(a, "-hone0inputs="); ok {
			name = n
			continue
		}
		out = append(out, a)
	}
	if name == "" {
		return out, nil
	}
	text, err := os.ReadFile(filepath.Join(dir, filepath.Base(name)))
	if err != nil {
		return nil, err
	}
	var files map[string]string
	if err := json.Unmarshal(text, &files); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for i, a := range out {
		if !strings.HasSuffix(a, ".go") || strings.HasPrefix(a, "-") {
			continue
		}
		path, err := filepath.Abs(a)
		if err != nil {
			return nil, err
		}
		if to, ok := files[path]; ok {
			out[i] = to
		}
	}
	return out, nil
}
