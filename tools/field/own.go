package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/load"
)

// Marks at the end of a line of a case's source.
const (
	markCulprit = " //! culprit"
	markAlso    = " //! also"
)

// service says how to drive a case that is a service; its zero value is for a program that exits.
type service struct {
	Load  []string `json:"load"`  // PATH or METHOD PATH; a %d in it counts from From, Range times
	Range int      `json:"range"` // 0 = once
	From  int      `json:"from"`
	Body  string   `json:"body"`
}

// readOwn reads the cases that are archives in a directory.
func readOwn(files []string) ([]fieldCase, error) {
	var all []fieldCase
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		c, err := parseOwn(strings.TrimSuffix(filepath.Base(name), ".txtar"), text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, c)
	}
	return all, nil
}

// parseOwn parses one archive. The fault is at the line with the mark.
func parseOwn(id string, text []byte) (fieldCase, error) {
	c := fieldCase{ID: id}
	for _, f := range txtar.Parse(text).Files {
		if f.Name == "case.json" {
			if err := json.Unmarshal(f.Data, &c); err != nil {
				return c, fmt.Errorf("case.json: %w", err)
			}
			continue
		}
		f.Data = c.unmark(f)
		c.files = append(c.files, f)
	}
	switch {
	case len(c.files) == 0:
		return c, fmt.Errorf("no files")
	case c.Kind == clean:
		return c, nil
	case c.Function == "" || c.Words == "" || c.Cause == "" || c.Place == "" && strings.HasPrefix(c.Function, "main."):
		return c, fmt.Errorf("want culprit_function, words, cause and a line marked%s", markCulprit)
	}
	var err error
	c.words, err = regexp.Compile("(?is)" + c.Words)
	return c, err
}

// unmark removes the marks from a file's text, and stores their locations.
func (c *fieldCase) unmark(f txtar.File) []byte {
	lines := strings.Split(string(f.Data), "\n")
	for i, line := range lines {
		place := fmt.Sprintf("%s:%d", f.Name, i+1)
		if bare, ok := strings.CutSuffix(line, markCulprit); ok {
			c.Place, lines[i] = place, bare
		}
		if bare, ok := strings.CutSuffix(line, markAlso); ok {
			c.Also = append(c.Also, " ("+place+")")
			lines[i] = bare
		}
	}
	return []byte(strings.Join(lines, "\n"))
}

// write writes the files of an archive to a directory and completes its go.mod.
func (c *fieldCase) write(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, f := range c.files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644); err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(ctx, "go", "mod", "tidy")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go mod tidy: %w: %s", err, lastLine(string(out)))
	}
	return nil
}

// drive adds the address and the load of a service to the options of its recording.
func (s service) drive(o *capture.Options) error {
	if len(s.Load) == 0 {
		return nil
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	addr := ln.Addr().String()
	if err := ln.Close(); err != nil {
		return err
	}
	o.Env = append(o.Env, "ADDR="+addr)
	o.Load = &load.Options{Connections: 8, Targets: s.targets(addr)}
	return nil
}

func (s service) targets(addr string) []load.Target {
	var all []load.Target
	for i := range max(s.Range, 1) {
		for _, line := range s.Load {
			method, path, ok := strings.Cut(line, " ")
			if !ok {
				method, path = "GET", line
			}
			if strings.Contains(path, "%d") {
				path = fmt.Sprintf(path, s.From+i)
			}
			all = append(all, load.Target{Method: method, URL: "http://" + addr + path, Body: []byte(s.Body)})
		}
	}
	return all
}
