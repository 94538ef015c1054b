package rules_test

import (
	"testing"

	connectpercall "github.com/hone-go/hone/internal/diagnose/rules/connect-per-call"
	copybuffer "github.com/hone-go/hone/internal/diagnose/rules/copy-buffer"
	offsetpaging "github.com/hone-go/hone/internal/diagnose/rules/offset-paging"
)

// TestConnectPerCallShapes: how connections are opened and closed.
func TestConnectPerCallShapes(t *testing.T) {
	const head = `import (
	"context"
	"net"
	"net/smtp"
)

type client struct{ conn net.Conn }

func connect() (*client, error) { return nil, nil }

func (c *client) ask() (int, error) { return 0, nil }

func (c *client) Disconnect(context.Context) error { return c.conn.Close() }

var (
	_ net.Conn
	_ smtp.Client
)`
	const stack = "net.(*Dialer).DialContext net.(*Dialer).Dial net.Dial"
	checkShapes(t, connectpercall.Rule(), head, stack, 0, []shape{
		{"func F(s string) (int, error) {\n\tc, err := net.Dial(\"tcp\", s) @\n\tif err != nil {\n\t\treturn 0, err\n\t}\n\tdefer c.Close()\n\treturn c.Write([]byte(s))\n}", "net.Dial"},
		{"func F(s string) (int, error) {\n\tc, err := net.Dial(\"tcp\", s) @\n\tif err != nil {\n\t\treturn 0, err\n\t}\n\tdefer func() {\n\t\tif err := c.Close(); err != nil {\n\t\t\tprintln(err.Error())\n\t\t}\n\t}()\n\treturn c.Write([]byte(s))\n}", "net.Dial"},
		{"func F(ctx context.Context) (int, error) {\n\tc, err := connect() @\n\tif err != nil {\n\t\treturn 0, err\n\t}\n\tdefer c.Disconnect(ctx)\n\treturn c.ask()\n}", "connect"},
		{"func F(ctx context.Context) (*client, error) {\n\tc, err := connect() @\n\treturn c, err\n}", ""},
		{"func F(to []string, text []byte) error {\n\treturn smtp.SendMail(\"mail:25\", nil, \"a\", to, text) @\n}", "Keep an smtp.Client"},
	})
}

// TestOffsetPagingShapes: how an offset gets into a query.
func TestOffsetPagingShapes(t *testing.T) {
	const head = `import (
	"database/sql"
	"strconv"
)

const page = "SELECT id FROM t ORDER BY id LIMIT ?, ?"

var _ = strconv.Itoa`
	loop := func(query, says string) shape {
		return shape{"func F(db *sql.DB, n int) error {\n\tfor off := 0; off < n; off += 100 {\n\t\trows, err := db.Query(" + query + ") @\n\t\tif err != nil {\n\t\t\treturn err\n\t\t}\n\t\trows.Close()\n\t}\n\treturn nil\n}", says}
	}
	checkShapesIn(t, offsetpaging.Rule(), head, "database/sql.(*DB).QueryContext database/sql.(*DB).Query", 0, []shape{
		loop("\"SELECT id FROM t LIMIT 100 OFFSET ?\", off", "the loop at"),
		loop("\"SELECT id FROM t LIMIT 100 OFFSET \" + strconv.Itoa(off)", "the loop at"),
		loop("page, off, 100", "the loop at"),
		loop("\"SELECT id FROM t WHERE id > ? LIMIT 100\", off", ""),
		loop("\"SELECT id FROM t LIMIT 100 OFFSET 100\"", ""),
	}, counted)
}

// TestCopyBufferShapes: calls that allocate a buffer for each copy.
func TestCopyBufferShapes(t *testing.T) {
	checkShapes(t, copybuffer.Rule(), "import \"io\"", "io.copyBuffer io.Copy", 32<<10, []shape{
		{"func F(w io.Writer, r io.Reader) { io.Copy(w, r) } @", "a buffer of 32 KiB"},
		{"func F(w io.Writer, r io.Reader) { io.CopyBuffer(w, r, nil) } @", "a buffer of 32 KiB"},
		{"func F(w io.Writer, r io.Reader, b []byte) { io.CopyBuffer(w, r, b) } @", ""},
	})
}
