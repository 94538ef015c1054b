package rules_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	flushpermessage "github.com/hone-go/hone/internal/diagnose/rules/flush-per-message"
	"github.com/hone-go/hone/internal/recording"
)

// TestSyncPerRequest: requests that sync a file which all share, and those that have their own
// file, hold a lock, or run one at a time.
func TestSyncPerRequest(t *testing.T) {
	const head = `import (
	"os"
	"sync"
)

type journal struct {
	mu sync.Mutex
	f  *os.File
	n  int
}

var audit *os.File`
	for _, c := range []struct {
		connections int
		perRequest  uint64
		says        string
	}{
		{16, 1, "Each request forces its own data to the disk"},
		{1, 1, ""},
	} {
		checkShapesIn(t, flushpermessage.Rule(), head, "os.(*File).Sync", 0, []shape{
			{"func (j *journal) F() error { return j.f.Sync() } @", c.says},
			{"func F(b []byte) error {\n\tif _, err := audit.Write(b); err != nil {\n\t\treturn err\n\t}\n\treturn audit.Sync() @\n}", c.says},
			{"func F(f *os.File) error { return f.Sync() } @", c.says},
			{"func F(b []byte) error {\n\tf, err := os.Create(\"x\")\n\tif err != nil {\n\t\treturn err\n\t}\n\tf.Write(b)\n\treturn f.Sync() @\n}", ""},
			{"func (j *journal) F() error {\n\tj.mu.Lock()\n\tdefer j.mu.Unlock()\n\treturn j.f.Sync() @\n}", ""},
			{"func (j *journal) F() error {\n\tj.mu.Lock()\n\tj.n++\n\tj.mu.Unlock()\n\treturn j.f.Sync() @\n}", c.says},
		}, func(p *rule.Pass) {
			lines := map[int]string{}
			for i := range 400 {
				lines[i+1] = ""
			}
			p.Counts = ran(lines, c.perRequest)
			p.Manifest.Load = &recording.Load{Targets: []string{"GET http://127.0.0.1/"}, Connections: c.connections}
		})
	}
}
