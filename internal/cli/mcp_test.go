package cli

import (
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hone-go/hone/internal/live"
)

// assisted starts hone mcp and connects a client of the SDK over its streams, as an assistant
// does. disconnect ends the connection, and checks that the server exits.
func assisted(t *testing.T, env Env, args ...string) (client *mcp.ClientSession, disconnect func()) {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	env.Stdin, env.Stdout, env.Stderr = toServer, fromServer, io.Discard
	done := make(chan error, 1)
	go func() { done <- dispatch(t.Context(), append([]string{"mcp"}, args...), env) }()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return client, func() {
		client.Close()
		fromClient.Close()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("the assistant goes: %v", err)
			}
		case <-time.After(10 * time.Second):
			t.Error("the server stays when the assistant has gone")
		}
	}
}

// TestMCPAnswers calls each tool for a recording and a profile with hostile names: an answer is
// what the command prints, without escape sequences.
func TestMCPAnswers(t *testing.T) {
	c := newCorpus(t)
	env := Env{Getenv: func(string) string { return "" }, CacheDir: t.TempDir(), Dir: c.dir, Version: "test"}
	client, disconnect := assisted(t, env)
	trace := hostileTrace(t)
	recordOf(t, filepath.Join(c.dir, "old.hone"), "main.old", 2, trace)
	recordOf(t, filepath.Join(c.dir, "new.hone"), "main.new", 1, trace)
	rec, prof := filepath.Base(c.recording), filepath.Base(c.profile)
	for _, tt := range []struct {
		tool string
		in   map[string]any
		want string
	}{
		{"recordings", nil, "$ hone recordings"},
		{"findings", map[string]any{"recording": rec}, "$ hone findings"},
		{"why", map[string]any{"source": rec, "function": "."}, "$ hone why"},
		{"top", map[string]any{"source": prof}, "flat%"},
		{"list", map[string]any{"source": prof, "function": "main"}, "$ hone list"},
		{"peek", map[string]any{"source": prof, "function": "."}, "$ hone peek"},
		{"trace", map[string]any{"source": filepath.Base(c.trace), "view": "summary"}, "$ hone trace summary"},
		{"diff", map[string]any{"old": prof, "new": prof}, "$ hone diff"},
		{"compare", map[string]any{"old": "old.hone", "new": "new.hone"}, "cpu"},
		{"diff", map[string]any{"old": "old.hone", "new": "new.hone"}, "main.new"},
		{"trace", map[string]any{"source": "new.hone", "view": "requests"}, "$ hone trace requests"},
		{"rule", map[string]any{"id": "concat-loop"}, "concatenat"},
	} {
		r, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: tt.tool, Arguments: tt.in})
		if err != nil {
			t.Fatalf("%s: %v", tt.tool, err)
		}
		text := r.Content[0].(*mcp.TextContent).Text
		if r.IsError || !strings.Contains(text, tt.want) {
			t.Errorf("%s: %s", tt.tool, text)
		}
		if strings.ContainsAny(text, "\x1b\x07\x00\u009b\u202e") {
			t.Errorf("%s: control characters in %.300q", tt.tool, text)
		}
	}
	for _, tt := range []struct {
		tool string
		in   map[string]any
	}{
		{"run", map[string]any{"package": "."}}, // not allowed
		{"findings", map[string]any{"recording": "/etc/passwd"}},
		{"compare", map[string]any{"old": "old.hone", "new": "http://127.0.0.1:1/"}},
	} {
		if r, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: tt.tool, Arguments: tt.in}); err == nil && !r.IsError {
			t.Errorf("%s %v: %s", tt.tool, tt.in, r.Content[0].(*mcp.TextContent).Text)
		}
	}
	disconnect()
}

// TestMCPRuns lets an assistant build and run a package, and read its findings.
func TestMCPRuns(t *testing.T) {
	live.Only(t)
	dir, _ := unpackPrograms(t)
	env := Env{Getenv: func(string) string { return "" }, CacheDir: t.TempDir(), Dir: dir, Version: "test"}
	client, disconnect := assisted(t, env, "-allow_run")
	for _, tt := range []struct {
		tool string
		in   map[string]any
		want string
	}{
		{"run", map[string]any{"package": "batch", "seconds": 2}, "CPU"},
		{"recordings", nil, "batch"},
	} {
		r, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: tt.tool, Arguments: tt.in})
		if err != nil {
			t.Fatalf("%s: %v", tt.tool, err)
		}
		if text := r.Content[0].(*mcp.TextContent).Text; r.IsError || !strings.HasPrefix(text, "$ hone "+tt.tool) || !strings.Contains(text, tt.want) {
			t.Errorf("%s: %s", tt.tool, text)
		}
	}
	disconnect()
}
