package assistant_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hone-go/hone/internal/assistant"
)

// asked connects a client of the SDK to a server whose commands print their arguments.
func asked(t *testing.T, o assistant.Options) *mcp.ClientSession {
	t.Helper()
	if o.Run == nil {
		o.Run = func(_ context.Context, out io.Writer, args ...string) error {
			_, err := fmt.Fprintf(out, "%q\n", args)
			return err
		}
	}
	o.Known = func(name string) bool { return name == "one.hone" }
	there, here := mcp.NewInMemoryTransports()
	if _, err := assistant.New(o).Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// call returns the text of a tool's answer, and whether it is an error.
func call(t *testing.T, c *mcp.ClientSession, tool string, args map[string]any) (string, bool) {
	t.Helper()
	if args == nil {
		args = map[string]any{}
	}
	r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return err.Error(), true
	}
	var b strings.Builder
	for _, x := range r.Content {
		b.WriteString(x.(*mcp.TextContent).Text)
	}
	return b.String(), r.IsError
}

func TestToolsAreCommands(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "cpu.pprof"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	cpu := filepath.Join(dir, "cpu.pprof")
	c := asked(t, assistant.Options{Dirs: []string{dir}, Allow: true})
	for _, tt := range []struct {
		tool string
		in   map[string]any
		want []string
	}{
		{"recordings", nil, []string{"recordings"}},
		{"findings", map[string]any{"recording": "one.hone", "rules": "cpu"}, []string{"findings", "-rules=cpu", "one.hone"}},
		{"why", map[string]any{"source": "one.hone", "function": "main.go:12"}, []string{"why", "main.go:12", "one.hone"}},
		{"top", map[string]any{"source": "cpu.pprof", "sort": "cum", "focus": "-x"}, []string{"top", "-focus=-x", "-nodecount=20", "-cum", cpu}},
		{"list", map[string]any{"source": cpu, "function": "^main\\.", "sample_index": "cpu"}, []string{"list", "-sample_index=cpu", "^main\\.", cpu}},
		{"peek", map[string]any{"source": "cpu.pprof:x", "function": "f"}, []string{"peek", "f", cpu + ":x"}},
		{"trace", map[string]any{"source": "one.hone"}, []string{"trace", "requests", "one.hone"}},
		{"trace", map[string]any{"source": "one.hone", "view": "critical", "request": 7}, []string{"trace", "critical", "-request=7", "one.hone"}},
		{"compare", map[string]any{"old": "one.hone", "new": "one.hone"}, []string{"compare", "one.hone", "one.hone"}},
		{"diff", map[string]any{"old": "one.hone", "new": "cpu.pprof", "sample_index": "cpu"}, []string{"diff", "-sample_index=cpu", "one.hone", cpu}},
		{"rule", map[string]any{"id": "concat-loop"}, []string{"rules", "concat-loop"}},
		{"run", map[string]any{"package": ".", "load": "http://127.0.0.1:8080/x", "args": []string{"-n", "3"}},
			[]string{"run", "-q", "-duration=15s", "-timeout=10m0s", "-load=http://127.0.0.1:8080/x", dir, "--", "-n", "3"}},
	} {
		got, failed := call(t, c, tt.tool, tt.in)
		if want := fmt.Sprintf("%q\n", tt.want); failed || !strings.HasSuffix(got, want) || !strings.HasPrefix(got, "$ hone "+tt.want[0]) || !strings.Contains(got, "not instructions") {
			t.Errorf("%s %v: %s, want %s", tt.tool, tt.in, got, want)
		}
	}
}

func TestToolsRefuse(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "secret"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(other, "secret"), filepath.Join(dir, "link")); err != nil {
		if runtime.GOOS == "windows" { // needs a privilege there
			t.Skip(err)
		}
		t.Fatal(err)
	}
	c := asked(t, assistant.Options{Dirs: []string{dir}, Allow: true})
	for _, tt := range []struct {
		tool string
		in   map[string]any
		want string
	}{
		{"findings", map[string]any{"recording": "two.hone"}, "neither a recording"},
		{"findings", map[string]any{"recording": ""}, "name a recording"},
		{"findings", map[string]any{}, "recording"},
		{"findings", map[string]any{"recording": "-o=x"}, "not the name"},
		{"findings", map[string]any{"recording": filepath.Join(other, "secret")}, "neither"},
		{"findings", map[string]any{"recording": "../" + filepath.Base(other) + "/secret"}, "neither"},
		{"findings", map[string]any{"recording": "link"}, "neither"},
		{"findings", map[string]any{"recording": "http://example.com/x"}, "neither"},
		{"list", map[string]any{"source": "one.hone", "function": "-o=/tmp/x"}, "is not a function"},
		{"top", map[string]any{"source": "one.hone", "sort": "-o"}, "flat or cum"},
		{"trace", map[string]any{"source": "one.hone", "view": "timeline"}, "view must be one of"},
		{"run", map[string]any{"package": other}, "neither"},
		{"run", map[string]any{"package": ".", "load": "http://example.com/"}, "loopback only"},
		{"run", map[string]any{"package": ".", "load": "file:///etc/passwd"}, "load must be an address"},
		{"run", map[string]any{"package": ".", "seconds": 600}, "1 to 120"},
		{"run", map[string]any{"package": ".", "bench": "X", "load": "http://localhost/"}, "not both"},
	} {
		if got, failed := call(t, c, tt.tool, tt.in); !failed || !strings.Contains(got, tt.want) {
			t.Errorf("%s %v: %s, want an error with %q", tt.tool, tt.in, got, tt.want)
		}
	}
}

// TestRunIsNotThere: the tool run exists only if the user allowed it.
func TestRunIsNotThere(t *testing.T) {
	names := func(o assistant.Options) (out []string) {
		list, err := asked(t, o).ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range list.Tools {
			out = append(out, tool.Name)
			if tool.Description == "" || tool.InputSchema == nil || tool.Annotations.ReadOnlyHint == (tool.Name == "run") {
				t.Errorf("%+v", tool)
			}
		}
		return out
	}
	if got := names(assistant.Options{}); slices.Contains(got, "run") || len(got) != 10 {
		t.Errorf("without leave: %v", got)
	}
	if got := names(assistant.Options{Allow: true}); !slices.Contains(got, "run") {
		t.Errorf("with leave: %v", got)
	}
}

func TestAnswersAreShort(t *testing.T) {
	line := strings.Repeat("é", 99) + "\n"
	c := asked(t, assistant.Options{Run: func(_ context.Context, out io.Writer, args ...string) error {
		if args[0] == "rules" {
			return errors.New("no such rule")
		}
		_, err := io.WriteString(out, strings.Repeat(line, 1000))
		return err
	}})
	got, failed := call(t, c, "recordings", nil)
	if failed || len(got) > 26<<10 || !strings.HasSuffix(got, "bytes more: ask for less, or run the command\n") || !strings.Contains(got, "é\n…") {
		t.Errorf("%d bytes, %s", len(got), got[max(0, len(got)-200):])
	}
	if got, failed := call(t, c, "rule", map[string]any{"id": "x"}); !failed || !strings.Contains(got, "no such rule") {
		t.Errorf("a command's error: %s", got)
	}
}
