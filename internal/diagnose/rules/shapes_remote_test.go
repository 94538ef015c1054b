package rules_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	rowaskedtwice "github.com/hone-go/hone/internal/diagnose/rules/row-asked-twice"
)

const remoteHead = `import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

var errMissing = errors.New("missing")

type remote struct {
	base   string
	client *http.Client
}

func (c *remote) open(ctx context.Context, path string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return nil, err
	}
	return c.client.Do(req)
}

func (c *remote) load(ctx context.Context, path string, into any) error {
	resp, err := c.open(ctx, path)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return json.NewDecoder(resp.Body).Decode(into)
}

func (c *remote) has(ctx context.Context, path string) bool {
	resp, err := c.open(ctx, path)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

func (c *remote) size(id string) (int64, error) {
	resp, err := c.client.Head(fmt.Sprintf("%s/files/%s", c.base, id))
	if err != nil {
		return 0, err
	}
	resp.Body.Close()
	return resp.ContentLength, nil
}

func (c *remote) file(id string) ([]byte, error) {
	resp, err := c.client.Get(fmt.Sprintf("%s/files/%s", c.base, id))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}

type book struct{ Title string }

func (c *remote) hasBook(ctx context.Context, id string) bool { return c.has(ctx, "/books/"+id) }

func (c *remote) book(ctx context.Context, id string) (b book, err error) {
	err = c.load(ctx, "/books/"+id, &b)
	return b, err
}

func (c *remote) loan(ctx context.Context, id string) (b book, err error) {
	err = c.load(ctx, "/loans/"+id, &b)
	return b, err
}`

// TestRowAskedTwiceRemote: another service is asked whether there is what is asked for next.
func TestRowAskedTwiceRemote(t *testing.T) {
	counted := func(p *rule.Pass) {
		p.Counts = ranTimes(3000, func(int) uint64 { return 1000 })
	}
	const missing = "\t\treturn book{}, errMissing\n\t}\n"
	for stack, shapes := range map[string][]shape{
		"net/http.(*Client).Do main.(*remote).open main.(*remote).has main.(*remote).hasBook": {
			{"func F(ctx context.Context, c *remote, id string) (book, error) {\n\tif !c.hasBook(ctx, id) { @\n" + missing + "\treturn c.book(ctx, id)\n}", "only whether there is a resource, and then asks for it with c.book"},
			{"func F(ctx context.Context, c *remote, id string) (book, error) {\n\tif !c.hasBook(ctx, id) { @\n" + missing + "\treturn c.loan(ctx, id)\n}", ""},
			{"func F(ctx context.Context, c *remote, id, other string) (book, error) {\n\tif !c.hasBook(ctx, id) { @\n" + missing + "\treturn c.book(ctx, other)\n}", ""},
			{"func F(ctx context.Context, c *remote, id string) (bool, book, error) {\n\tok := c.hasBook(ctx, id) @\n\tb, err := c.book(ctx, id)\n\treturn ok, b, err\n}", ""},
			{"func F(ctx context.Context, c *remote, id string) bool { return c.hasBook(ctx, id) } @", ""},
		},
		"net/http.(*Client).Head main.(*remote).size": {
			{"func F(c *remote, id string) ([]byte, error) {\n\tif _, err := c.size(id); err != nil { @\n\t\treturn nil, err\n\t}\n\treturn c.file(id)\n}", "test the status of the second"},
			{"func F(c *remote, id string) ([]byte, error) {\n\tn, err := c.size(id) @\n\tif err != nil || n > 1<<20 {\n\t\treturn nil, err\n\t}\n\treturn c.file(id)\n}", ""},
		},
		"net/http.(*Client).Head": {
			{"func F(c *remote, url string) (io.ReadCloser, error) {\n\tresp, err := c.client.Head(url) @\n\tif err != nil {\n\t\treturn nil, err\n\t}\n\tresp.Body.Close()\n\tif resp.StatusCode != 200 {\n\t\treturn nil, errMissing\n\t}\n\tfull, err := c.client.Get(url)\n\tif err != nil {\n\t\treturn nil, err\n\t}\n\treturn full.Body, nil\n}", "asks another service with c.client.Head"},
			{"func F(c *remote, url, tag string) (io.ReadCloser, error) {\n\tresp, err := c.client.Head(url) @\n\tif err != nil {\n\t\treturn nil, err\n\t}\n\tresp.Body.Close()\n\tif resp.Header.Get(\"ETag\") == tag {\n\t\treturn nil, nil\n\t}\n\tfull, err := c.client.Get(url)\n\tif err != nil {\n\t\treturn nil, err\n\t}\n\treturn full.Body, nil\n}", ""},
		},
	} {
		checkShapesIn(t, rowaskedtwice.Rule(), remoteHead, stack, 0, shapes, counted)
	}
}
