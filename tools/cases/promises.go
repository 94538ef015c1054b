package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/session"
)

// promises computes the table of one condition for some programs. Recordings and measurements are
// kept in the cache directory; with again, they are read from there and only diagnosed again. A
// program that fails is listed in the table and does not stop the others; the error names it.
func (r *runner) promises(ctx context.Context, chosen []fixable, c condition, again bool) (*pledgeTable, error) {
	if !again && c.loops > 0 {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		stop, err := startLoops(c.loops, func() *exec.Cmd { return exec.Command(self, "-spin") })
		if err != nil {
			return nil, err
		}
		defer stop()
	}
	t := &pledgeTable{condition: c, duration: r.duration}
	var manifests []recording.Manifest
	var failures []error
	for _, f := range chosen {
		say := func(text string) { fmt.Fprintf(os.Stderr, "%s, %s: %s\n", c.name, f.name, text) }
		r.session.Progress = phases(say)
		say("started")
		err := r.promise(ctx, t, f, again, &manifests)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			t.failed = append(t.failed, fmt.Sprintf("%s: %v", f.name, err))
			failures = append(failures, fmt.Errorf("%s: %w", f.name, err))
		}
	}
	if len(manifests) > 0 {
		t.machine, t.others = manifests[0], othersIn(manifests)
	}
	return t, errors.Join(failures...)
}

// promise adds the rows of one program to a table.
func (r *runner) promise(ctx context.Context, t *pledgeTable, f fixable, again bool, manifests *[]recording.Manifest) error {
	path := filepath.Join(r.session.CacheDir, f.name+"-"+t.condition.name)
	var e evidence
	if again {
		text, err := os.ReadFile(path + ".json")
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, &e); err != nil {
			return fmt.Errorf("%s.json: %w", path, err)
		}
	} else {
		var err error
		if e, err = r.gather(ctx, f, path+".hone"); err != nil {
			return err
		}
		text, err := json.MarshalIndent(e, "", "\t")
		if err == nil {
			err = os.WriteFile(path+".json", text, 0o644)
		}
		if err != nil {
			return err
		}
	}
	result, err := session.Diagnose(ctx, r.session, path+".hone")
	if err != nil {
		return err
	}
	singles, together, err := pledgesOf(f, result.Report, e.Phases)
	if err != nil {
		return err
	}
	*manifests = append(*manifests, result.Manifest)
	if n := len(e.Phases[0]); t.processes == [2]int{} {
		t.processes = [2]int{n, n}
	} else {
		t.processes = [2]int{min(t.processes[0], n), max(t.processes[1], n)}
	}
	t.singles = append(t.singles, singles...)
	if together != nil {
		t.together = append(t.together, *together)
	}
	return nil
}

// printPromises computes a table and prints it or, with a name, saves it as a section of that page.
func (r *runner) printPromises(ctx context.Context, w io.Writer, chosen []fixable, c condition, again bool, name string) error {
	t, err := r.promises(ctx, chosen, c, again)
	if t == nil {
		return err
	}
	var section bytes.Buffer
	t.section(&section)
	if name == "" || len(t.singles) == 0 {
		_, werr := w.Write(section.Bytes())
		return errors.Join(err, werr)
	}
	return errors.Join(err, saveSection(name, c, section.String()))
}
