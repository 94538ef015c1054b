package cli

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOutputAndJSONWithEveryCommand: -o names the file of every report, and -json makes it JSON.
func TestOutputAndJSONWithEveryCommand(t *testing.T) {
	c := newCorpus(t)
	for _, cmd := range commands() {
		fs := flag.NewFlagSet(cmd.name, flag.ContinueOnError)
		cmd.declare(fs)
		for _, name := range []string{"o", "output", "max_memory"} {
			if fs.Lookup(name) == nil {
				t.Errorf("%s has no -%s", cmd.name, name)
			}
		}
		if fs.Lookup("json") == nil && !slices.Contains([]string{"completion", "help"}, cmd.name) {
			t.Errorf("%s has no -json", cmd.name)
		}
	}
	for _, line := range [][]string{
		{"findings", c.recording}, {"recordings"}, {"top", c.profile}, {"list", ".", c.profile}, {"tree", c.profile}, {"peek", ".", c.profile},
		{"graph", c.profile}, {"callgrind", c.profile}, {"proto", c.profile}, {"topproto", c.profile}, {"traces", c.profile}, {"tags", c.profile},
		{"raw", c.profile}, {"comments", c.profile}, {"flame", c.profile}, {"folded", c.profile}, {"speedscope", c.profile},
		{"diff", c.profile, c.profile}, {"trace", c.trace}, {"trace", "goroutines", c.trace}, {"trace", "timeline", c.trace}, {"trace", "events", c.trace},
		{"rules"}, {"rules", "concat-loop"}, {"doctor"}, {"version"},
	} {
		for _, flags := range [][]string{nil, {"-json"}} {
			path := filepath.Join(t.TempDir(), "out")
			args := slices.Concat(line[:1], flags, []string{"-q", "-o", path}, line[1:])
			if i := slices.Index(args, "-q"); line[0] == "rules" || line[0] == "version" {
				args = slices.Delete(args, i, i+1)
			}
			if (line[0] == "graph" || line[0] == "flame") && flags == nil {
				args = slices.Insert(args, 1, "-format", "svg")
			}
			code, stdout, stderr := run(t, args...)
			if code != exitOK {
				t.Errorf("%s %s: code %d: %s", line[0], flags, code, stderr)
				continue
			}
			written, err := os.ReadFile(path)
			if err != nil || len(written) == 0 || stdout != "" {
				t.Errorf("%s %s: %d bytes in the file (%v), %d bytes on standard output", line[0], flags, len(written), err, len(stdout))
			}
			if flags == nil || line[0] == "trace" && len(line) > 2 && line[1] == "events" { // events are JSON lines
				continue
			}
			if !json.Valid(written) {
				t.Errorf("%s -json wrote no JSON: %.80q", line[0], written)
			}
		}
	}
}

// TestOutputKeepsDevices: -o /dev/null does not replace the device by a file.
func TestOutputKeepsDevices(t *testing.T) {
	before, err := os.Stat(os.DevNull)
	if err != nil || before.Mode().IsRegular() {
		t.Skip("no device to write to")
	}
	if code, _, stderr := run(t, "version", "-o", os.DevNull); code != exitOK {
		t.Errorf("code %d: %s", code, stderr)
	}
	if after, err := os.Stat(os.DevNull); err != nil || after.Mode() != before.Mode() {
		t.Fatalf("the device is %v, %v", after, err)
	}
}

// TestPicturesByEnding: the file's extension chooses the format; a name without a known extension
// is refused.
func TestPicturesByEnding(t *testing.T) {
	c := newCorpus(t)
	for _, x := range []struct{ command, file, head, err string }{
		{"graph", "g.svg", "<svg", ""}, {"graph", "g.dot", "digraph", ""}, {"graph", "g.gv", "digraph", ""},
		{"flame", "f.html", "<!doctype", ""}, {"flame", "f.HTM", "<!doctype", ""}, {"flame", "f.svg", "<svg", ""},
		{"graph", "g.html", "", "use .svg or .dot"}, {"flame", "f.png", "", "use .html or .svg"},
	} {
		path := filepath.Join(t.TempDir(), x.file)
		code, _, stderr := run(t, x.command, "-o", path, c.profile)
		written, _ := os.ReadFile(path)
		if x.err != "" {
			if code != exitUsage || !strings.Contains(stderr, x.err) || len(written) > 0 {
				t.Errorf("%s -o %s: code %d, %d bytes: %s", x.command, x.file, code, len(written), stderr)
			}
			continue
		}
		if code != exitOK || !strings.HasPrefix(strings.ToLower(string(written)), strings.ToLower(x.head)) {
			t.Errorf("%s -o %s: code %d, starts %.40q: %s", x.command, x.file, code, written, stderr)
		}
	}
}
