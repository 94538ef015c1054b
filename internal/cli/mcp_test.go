package cli

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMCPAnswers speaks with the command over its streams, as an assistant does, and calls each
// tool for a recording and a profile with hostile names: an answer is what the command prints,
// without escape sequences.
func TestMCPAnswers(t *testing.T) {
	c := newCorpus(t)
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	env := Env{Stdin: toServer, Stdout: fromServer, Stderr: io.Discard, Getenv: func(string) string { return "" }, CacheDir: t.TempDir(), Dir: c.dir, Version: "test"}
	done := make(chan error, 1)
	go func() { done <- dispatch(ctx, []string{"mcp"}, env) }()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, &mcp.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	if err != nil {
		t.Fatal(err)
	}
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
		{"peek", map[string]any{"source": prof, "function": "."}, "$ hone peek"},
		{"trace", map[string]any{"source": filepath.Base(c.trace), "view": "summary"}, "$ hone trace summary"},
		{"diff", map[string]any{"old": prof, "new": prof}, "$ hone diff"},
		{"rule", map[string]any{"id": "concat-loop"}, "concatenat"},
	} {
		r, err := client.CallTool(ctx, &mcp.CallToolParams{Name: tt.tool, Arguments: tt.in})
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
