package rules_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	clientperrequest "github.com/hone-go/hone/internal/diagnose/rules/client-per-request"
	contextchain "github.com/hone-go/hone/internal/diagnose/rules/context-chain"
	copytoread "github.com/hone-go/hone/internal/diagnose/rules/copy-to-read"
	countforexistence "github.com/hone-go/hone/internal/diagnose/rules/count-for-existence"
	flushpermessage "github.com/hone-go/hone/internal/diagnose/rules/flush-per-message"
	metriclabel "github.com/hone-go/hone/internal/diagnose/rules/metric-label-per-call"
	statperfile "github.com/hone-go/hone/internal/diagnose/rules/stat-per-file"
)

// TestFlushPerMessageShapes: flushes in loops, under conditions, and of responses.
func TestFlushPerMessageShapes(t *testing.T) {
	const head = `import (
	"bufio"
	"fmt"
	"net/http"
	"sync"
)

type out struct {
	w    *bufio.Writer
	auto bool
	full bool
}

func (o *out) add(s string) { o.full = len(s) > 80 }

var (
	_ = fmt.Sprint
	_ http.Handler
	_ *sync.Map
)`
	checkShapes(t, flushpermessage.Rule(), head, "bufio.(*Writer).Flush", 0, []shape{
		{"func F(w *bufio.Writer, lines []string) {\n\tfor _, l := range lines {\n\t\tw.WriteString(l)\n\t\tw.Flush() @\n\t}\n}", "after each piece"},
		{"func F(o *out, lines []string, auto bool) {\n\tfor _, l := range lines {\n\t\to.w.WriteString(l)\n\t\tif auto {\n\t\t\to.w.Flush() @\n\t\t}\n\t}\n}", "after each piece"},
		{"func F(w *bufio.Writer, all *sync.Map) {\n\tall.Range(func(k, _ any) bool {\n\t\tfmt.Fprintln(w, k)\n\t\tw.Flush() @\n\t\treturn true\n\t})\n}", "after each piece"},
		{"func F(o *out, lines []string) {\n\tfor _, l := range lines {\n\t\to.add(l)\n\t\tif o.full {\n\t\t\to.w.Flush() @\n\t\t}\n\t}\n}", ""},
		{"func F(w *bufio.Writer, lines []string) {\n\tfor i, l := range lines {\n\t\tw.WriteString(l)\n\t\tif i%100 == 0 {\n\t\t\tw.Flush() @\n\t\t}\n\t}\n}", ""},
		{"func F(w *bufio.Writer, lines []string) {\n\tfor _, l := range lines {\n\t\tw.WriteString(l)\n\t\tif w.Buffered() > 100 {\n\t\t\tw.Flush() @\n\t\t}\n\t}\n}", ""},
	})
	checkShapes(t, flushpermessage.Rule(), head, "bufio.(*Writer).Flush net/http.(*response).FlushError net/http.(*response).Flush", 0, []shape{
		{"func F(w http.ResponseWriter, lines []string) {\n\tfor _, l := range lines {\n\t\tfmt.Fprintln(w, l)\n\t\tif f, ok := w.(http.Flusher); ok {\n\t\t\tf.Flush() @\n\t\t}\n\t}\n}", "after each piece"},
		{"func F(w http.ResponseWriter, lines []string) {\n\tf, ok := w.(http.Flusher)\n\tfor _, l := range lines {\n\t\tfmt.Fprintln(w, l)\n\t\tif ok {\n\t\t\tf.Flush() @\n\t\t}\n\t}\n}", "after each piece"},
		{"func F(w http.ResponseWriter, lines []string) {\n\tf, _ := w.(http.Flusher)\n\tfor _, l := range lines {\n\t\tfmt.Fprintln(w, l)\n\t\tif f != nil {\n\t\t\tf.Flush() @\n\t\t}\n\t}\n}", "after each piece"},
		{"func F(w http.ResponseWriter, lines []string) {\n\tfor _, l := range lines {\n\t\tfmt.Fprintln(w, l)\n\t\tw.(http.Flusher).Flush() @\n\t}\n}", "after each piece"},
		{"func F(w http.ResponseWriter, lines []string) {\n\tfor _, l := range lines {\n\t\tevent_N(w, l) //: c_N\n\t}\n}\n\nfunc event_N(w http.ResponseWriter, l string) {\n\tfmt.Fprintln(w, l)\n\tif f, ok := w.(http.Flusher); ok {\n\t\tf.Flush() @ < c_N\n\t}\n}", "Leave the flush to the caller"},
		{"func F(w http.ResponseWriter, lines chan string) {\n\tfor l := range lines {\n\t\tfmt.Fprintln(w, l)\n\t\tw.(http.Flusher).Flush() @\n\t}\n}", ""},
		{"func F(ws []http.ResponseWriter, l string) {\n\tfor _, w := range ws {\n\t\tfmt.Fprintln(w, l)\n\t\tw.(http.Flusher).Flush() @\n\t}\n}", ""},
	})
}

// TestStatPerFileShapes: callbacks, and lists of files, of which only names and kinds are used.
func TestStatPerFileShapes(t *testing.T) {
	const head = `import (
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

func hidden(info fs.FileInfo) bool { return strings.HasPrefix(info.Name(), ".") }

func large(info fs.FileInfo) bool { return info.Size() > 100 }

func collect(to *[]string) filepath.WalkFunc {
	return func(path string, info fs.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			*to = append(*to, path)
		}
		return err
	}
}

var (
	_ = sort.Slice
	_ os.File
)`
	const says = "only names and kinds are used"
	checkShapes(t, statperfile.Rule(), head, "os.lstatNolog os.Lstat path/filepath.walk path/filepath.Walk", 0, []shape{
		{"func F(root string) (all []string) {\n\tfilepath.Walk(root, collect(&all)) @\n\treturn all\n}", says},
		{"func F(root string) (n int) {\n\tvisit := func(_ string, info fs.FileInfo, err error) error {\n\t\tif info.Mode().IsRegular() {\n\t\t\tn++\n\t\t}\n\t\treturn err\n\t}\n\tfilepath.Walk(root, visit) @\n\treturn n\n}", says},
		{"func F(root string) (n int) {\n\tfilepath.Walk(root, func(_ string, info fs.FileInfo, err error) error { @\n\t\tif !hidden(info) {\n\t\t\tn++\n\t\t}\n\t\treturn err\n\t})\n\treturn n\n}", says},
		{"func F(root string) (n int) {\n\tfilepath.Walk(root, func(_ string, info fs.FileInfo, err error) error { @\n\t\tif large(info) {\n\t\t\tn++\n\t\t}\n\t\treturn err\n\t})\n\treturn n\n}", ""},
	})
	checkShapes(t, statperfile.Rule(), head, "os.lstatNolog os.Lstat os.(*File).readdir os.(*File).Readdir", 0, []shape{
		{"func F(d *os.File) (n int) {\n\tinfos, _ := d.Readdir(-1) @\n\tsort.Slice(infos, func(i, j int) bool { return infos[i].Name() < infos[j].Name() })\n\tfor i := range infos {\n\t\tif infos[i].IsDir() {\n\t\t\tn++\n\t\t}\n\t}\n\treturn n\n}", says},
		{"func F(d *os.File) (n int) {\n\tinfos, _ := d.Readdir(-1) @\n\tfor i := range infos {\n\t\tinfo := infos[i]\n\t\tif info.IsDir() {\n\t\t\tn++\n\t\t}\n\t}\n\treturn n\n}", says},
		{"func F(d *os.File) (n int) {\n\tinfos, _ := d.Readdir(-1) @\n\tsort.Slice(infos, func(i, j int) bool { return infos[i].Size() < infos[j].Size() })\n\tfor i := range infos {\n\t\tif infos[i].IsDir() {\n\t\t\tn++\n\t\t}\n\t}\n\treturn n\n}", ""},
		{"func F(d *os.File) []fs.FileInfo {\n\tinfos, _ := d.Readdir(-1) @\n\treturn infos\n}", ""},
	})
	checkShapes(t, statperfile.Rule(), head, "os.lstatNolog os.Lstat os.(*unixDirent).Info", 0, []shape{
		{"func F(dir string) (n int) {\n\tentries, _ := os.ReadDir(dir)\n\tfor _, e := range entries {\n\t\tinfo, err := e.Info() @\n\t\tif err == nil && info.IsDir() {\n\t\t\tn++\n\t\t}\n\t}\n\treturn n\n}", says},
		{"func F(dir string) (n int64) {\n\tentries, _ := os.ReadDir(dir)\n\tfor _, e := range entries {\n\t\tinfo, err := e.Info() @\n\t\tif err == nil && !info.IsDir() {\n\t\t\tn += info.Size()\n\t\t}\n\t}\n\treturn n\n}", ""},
	})
}

// TestContextChainShapes: lookups in helpers, and literals that set a context of the code around.
func TestContextChainShapes(t *testing.T) {
	const head = `import (
	"context"
	"net/http"
	"sync"
)

var _ sync.Map

type key struct{}

func use(...any) {}

func run(f func()) { f() }`
	checkShapes(t, contextchain.Rule(), head, "context.value context.(*valueCtx).Value", 0, []shape{
		{"func F(ctx context.Context, xs []int) {\n\tfor _, x := range xs {\n\t\tuse(x, ctx.Value(key{})) @\n\t}\n}", "Look it up once"},
		{"func F(r *http.Request, xs []int) {\n\tfor _, x := range xs {\n\t\tuse(x, r.Context().Value(key{})) @\n\t}\n}", "Look it up once"},
		{"func F(ctx context.Context, all *sync.Map) {\n\tall.Range(func(k, _ any) bool {\n\t\tuse(k, ctx.Value(key{})) @\n\t\treturn true\n\t})\n}", "Look it up once"},
		{"func F(ctx context.Context, xs []int) {\n\tfor _, x := range xs {\n\t\tuse(x, user_N(ctx)) //: c_N\n\t}\n}\n\nfunc user_N(ctx context.Context) any {\n\treturn ctx.Value(key{}) @ < c_N\n}", "before the loop"},
		{"func F(rs []*http.Request) {\n\tfor _, r := range rs {\n\t\tuse(user_N(r.Context())) //: c_N\n\t}\n}\n\nfunc user_N(ctx context.Context) any {\n\treturn ctx.Value(key{}) @ < c_N\n}", ""},
		{"func F(ctx context.Context, xs []int) {\n\tfor _, x := range xs {\n\t\tuse(value_N(ctx, x)) //: c_N\n\t}\n}\n\nfunc value_N(ctx context.Context, k int) any {\n\treturn ctx.Value(k) @ < c_N\n}", ""},
		{"func F(ctx context.Context) any {\n\treturn ctx.Value(key{}) @\n}", ""},
	})
	checkShapes(t, contextchain.Rule(), head, "runtime.newobject context.WithValue", 64, []shape{
		{"func F(ctx context.Context) http.HandlerFunc {\n\treturn func(w http.ResponseWriter, r *http.Request) {\n\t\tctx = context.WithValue(ctx, key{}, r) @\n\t\tuse(ctx)\n\t}\n}", "belongs to the code around"},
		{"func F(ctx context.Context) http.HandlerFunc {\n\treturn func(w http.ResponseWriter, r *http.Request) {\n\t\tctx := context.WithValue(ctx, key{}, r) @\n\t\tuse(ctx)\n\t}\n}", ""},
		{"func F(ctx context.Context) {\n\tgo func() {\n\t\tctx = context.WithValue(ctx, key{}, 3) @\n\t\tuse(ctx)\n\t}()\n}", ""},
		{"func F(ctx context.Context) context.Context {\n\tctx = context.WithValue(ctx, key{}, 3) @\n\treturn ctx\n}", ""},
	})
}

// TestMetricLabelShapes: labels that are made into strings, here or in callers.
func TestMetricLabelShapes(t *testing.T) {
	const head = `import (
	"fmt"
	"strconv"
)

type counter struct{ n int }

func (c *counter) Inc() { c.n++ }

type vec struct{ c counter }

func (v *vec) WithLabelValues(values ...string) *counter { return &v.c }

func GetOrCreateCounter(name string) *counter { return &counter{} }

type metrics struct{ requests *vec }

type scope interface {
	Tagged(map[string]string) scope
	Counter(string) *counter
}

type list struct{ tags map[string]string }

func (l *list) Tagged(tags map[string]string) *list { return &list{tags} }

var _, _ = fmt.Sprint, strconv.Itoa`
	checkShapes(t, metriclabel.Rule(), head, "main.(*tree).Tagged", 64, []shape{
		{"func F(s scope, method string) {\n\ts.Tagged(map[string]string{\"method\": method}).Counter(\"requests\").Inc() @\n}", "sorts its tags into a key"},
		{"func F(s scope, code int) {\n\ts.Tagged(map[string]string{\"code\": strconv.Itoa(code)}).Counter(\"requests\").Inc() @\n}", "is given strconv.Itoa(code)"},
		{"func F(s scope, method string) scope {\n\treturn s.Tagged(map[string]string{\"method\": method}) @\n}", ""},
		{"func F(l *list, method string) int {\n\treturn len(l.Tagged(map[string]string{\"method\": method}).tags) @\n}", ""},
	})
	checkShapes(t, metriclabel.Rule(), head, "strconv.Itoa", 64, []shape{
		{"func F(v *vec, code int) { v.WithLabelValues(strconv.Itoa(code)).Inc() } @", "is given strconv.Itoa(code)"},
		{"func F(v *vec, code int) {\n\tlabels := []string{strconv.Itoa(code), \"GET\"}\n\tv.WithLabelValues(labels...).Inc() @\n}", "is given strconv.Itoa(code)"},
	})
	checkShapes(t, metriclabel.Rule(), head, "runtime.mapaccess1_faststr main.(*vec).WithLabelValues", 64, []shape{
		{"func F(m *metrics, code int) {\n\tm.observe_N(strconv.Itoa(code), \"GET\")\n}\n\nfunc (m *metrics) observe_N(code, method string) {\n\tm.requests.WithLabelValues(code, method).Inc() @\n}", "is given strconv.Itoa(code)"},
		{"func F(m *metrics, code string) {\n\tm.observe_N(code, \"GET\")\n}\n\nfunc (m *metrics) observe_N(code, method string) {\n\tm.requests.WithLabelValues(code, method).Inc() @\n}", ""},
	})
	checkShapes(t, metriclabel.Rule(), head, "fmt.Sprintf", 64, []shape{
		{"func F(path string) { GetOrCreateCounter(fmt.Sprintf(`requests{path=%q}`, path)).Inc() } @", "is given fmt.Sprintf"},
	})
}

// TestCopyToReadShapes: how a list or map is copied.
func TestCopyToReadShapes(t *testing.T) {
	const head = `import (
	"maps"
	"slices"
	"sync"
)

type store struct {
	mu    sync.Mutex
	items []int
	byID  map[int]string
}

var (
	_ = maps.Clone[map[int]int]
	_ = slices.Clone[[]int]
)`
	all := func(p *rule.Pass) {
		p.Table.Totals.AllocBytes = 1e9
	}
	checkShapesIn(t, copytoread.Rule(), head, "", 8192, []shape{
		{"func F(s *store, id int) int { return s.all_N()[id] } //: c_N\n\nfunc (s *store) all_N() []int {\n\treturn append([]int(nil), s.items...) @ < c_N\n}", "only look up entries"},
		{"func F(s *store, id int) int { return s.all_N()[id] } //: c_N\n\nfunc (s *store) all_N() []int {\n\treturn append(make([]int, 0, len(s.items)), s.items...) @ < c_N\n}", "only look up entries"},
		{"func F(s *store, id int) int { return s.all_N()[id] } //: c_N\n\nfunc (s *store) all_N() (out []int) {\n\tout = append(out, s.items...) @ < c_N\n\treturn out\n}", "only look up entries"},
		{"func F(s *store, id int) string { return s.all_N()[id] } //: c_N\n\nfunc (s *store) all_N() map[int]string {\n\tout := make(map[int]string, len(s.byID))\n\tmaps.Copy(out, s.byID) @ < c_N\n\treturn out\n}", "only look up entries"},
		{"func F(s *store, id int) string { return s.all_N()[id] } //: c_N\n\nfunc (s *store) all_N() map[int]string {\n\tout := map[int]string{}\n\tfor k, v := range s.byID {\n\t\tout[k] = v @ < c_N\n\t}\n\treturn out\n}", "only look up entries"},
		{"func F(s *store, id int) int { return s.all_N()[id] } //: c_N\n\nfunc (s *store) all_N() []int {\n\tvar out []int\n\tfor _, v := range s.items {\n\t\tout = append(out, v) @ < c_N\n\t}\n\treturn out\n}", "only look up entries"},
		{"func F(s *store, id int) []int {\n\tall := s.all_N() //: c_N\n\tall[id] = 3\n\treturn all\n}\n\nfunc (s *store) all_N() []int {\n\treturn append(make([]int, 0, len(s.items)), s.items...) @ < c_N\n}", ""},
		{"func F(s *store, id int) int { return s.all_N()[id] } //: c_N\n\nfunc (s *store) all_N() []int {\n\tvar out []int\n\tfor _, v := range s.items {\n\t\tif v > 3 {\n\t\t\tout = append(out, v) @ < c_N\n\t\t}\n\t}\n\treturn out\n}", ""},
	}, all)
}

// TestClientPerRequestShapes: clients that are passed to a function, or that a struct has.
func TestClientPerRequestShapes(t *testing.T) {
	const head = `import (
	"crypto/tls"
	"net/http"
)

type doer interface {
	Do(*http.Request) (*http.Response, error)
}

type api struct{ client doer }

func newClient() *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{}}}
}

var shared = newClient()`
	const says = "creates an http.Transport"
	checkShapesIn(t, clientperrequest.Rule(), head, "net/http.(*Transport).dialConn net/http.(*Client).do net/http.(*Client).Do", 0, []shape{
		{"func F(r *http.Request) error {\n\t_, err := newClient().Do(r) @\n\treturn err\n}", says},
		{"func F(r *http.Request) error {\n\ta := &api{client: newClient()}\n\t_, err := a.client.Do(r) @\n\treturn err\n}", says},
		{"func F(r *http.Request) error { return send_N(newClient(), r) } //: c_N\n\nfunc send_N(c *http.Client, r *http.Request) error {\n\t_, err := c.Do(r) @ < c_N\n\treturn err\n}", says},
		{"func F(r *http.Request) error {\n\tc := &http.Client{Transport: &http.Transport{}}\n\treturn send_N(c, r) //: c_N\n}\n\nfunc send_N(c doer, r *http.Request) error {\n\t_, err := c.Do(r) @ < c_N\n\treturn err\n}", says},
		{"func F(r *http.Request) error { return send_N(shared, r) } //: c_N\n\nfunc send_N(c *http.Client, r *http.Request) error {\n\t_, err := c.Do(r) @ < c_N\n\treturn err\n}", ""},
		{"func F(rs []*http.Request) {\n\tc := newClient()\n\tfor _, r := range rs {\n\t\tsend_N(c, r) //: c_N\n\t}\n}\n\nfunc send_N(c *http.Client, r *http.Request) error {\n\t_, err := c.Do(r) @ < c_N\n\treturn err\n}", ""},
	}, counted)
}

// TestTransportCreatedShapes: transports whose requests the source does not show.
func TestTransportCreatedShapes(t *testing.T) {
	const head = `import (
	"net/http"
	"net/http/httputil"
	"time"
)

type house struct{ answer time.Duration }

type api struct{ client *http.Client }

var (
	_ httputil.ReverseProxy
	_ time.Duration
	_ http.Client
)`
	for _, s := range []shape{
		{"func F(h *house) http.RoundTripper {\n\treturn &http.Transport{ResponseHeaderTimeout: h.answer} //: c_N\n}\n\nfunc proxy_N(h *house, w http.ResponseWriter, r *http.Request) {\n\tp := &httputil.ReverseProxy{Transport: f0(h)}\n\tp.ServeHTTP(w, r) @ < c_N\n}", "called on line"},
		{"type dialer_N struct{ make func() http.RoundTripper }\n\nfunc F() *dialer_N {\n\treturn &dialer_N{func() http.RoundTripper {\n\t\treturn http.DefaultTransport.(*http.Transport).Clone() //: c_N\n\t}}\n}\n\nfunc (d *dialer_N) send(r *http.Request) {\n\td.make().RoundTrip(r) @ < c_N\n}", "Transport).Clone on line"},
		{"func F(d time.Duration) *api {\n\tt := new(http.Transport)\n\t*t = http.Transport{ResponseHeaderTimeout: d} //: c_N\n\treturn &api{&http.Client{Transport: t}}\n}\n\nfunc send_N(a *api, r *http.Request) {\n\ta.client.Do(r) @ < c_N\n}", "creates an http.Transport"},
		{"type houses_N struct{ kept map[string]http.RoundTripper }\n\nfunc (h *houses_N) F(name string) http.RoundTripper {\n\tt, ok := h.kept[name]\n\tif !ok {\n\t\tt = &http.Transport{} //: c_N\n\t\th.kept[name] = t\n\t}\n\treturn t\n}\n\nfunc send_N(h *houses_N, r *http.Request) {\n\th.f0(r.Host).RoundTrip(r) @ < c_N\n}", ""},
	} {
		checkShapesIn(t, clientperrequest.Rule(), head, "net/http.(*Transport).dialConn net/http.(*Transport).RoundTrip", 0, []shape{s}, counted)
	}
}

// counted completes a recording: each line ran.
func counted(p *rule.Pass) {
	lines := map[int]string{}
	for i := range 400 {
		lines[i+1] = ""
	}
	p.Counts = ran(lines, 1000)
}

// TestCountForExistenceShapes: numbers of rows that are only compared with zero.
func TestCountForExistenceShapes(t *testing.T) {
	const head = `import "database/sql"

const countUsers = "-- name: CountUsers :one\nSELECT count(*) FROM users WHERE name = ?"

type handle struct{ *sql.DB }

func (handle) Get(to any, query string, args ...any) error { return nil }

type store struct{ db handle }`
	const says = "The query counts all rows"
	checkShapesIn(t, countforexistence.Rule(), head, "database/sql.(*DB).QueryRow", 0, []shape{
		{"func F(s *store) bool {\n\tvar n int\n\ts.db.QueryRow(\"SELECT COUNT(*) FROM t\").Scan(&n) @\n\treturn n > 0\n}", says},
		{"func F(s *store) bool {\n\tvar n int\n\ts.db.QueryRow(\"SELECT COUNT(id) AS n FROM t\").Scan(&n) @\n\treturn n > 0\n}", says},
		{"func F(s *store) bool {\n\tvar n int\n\ts.db.QueryRow(\"SELECT COUNT(DISTINCT id) FROM t\").Scan(&n) @\n\treturn n > 0\n}", ""},
		{"func F(s *store) bool {\n\tn, err := s.count_N() //: c_N\n\treturn err == nil && n > 0\n}\n\nfunc (s *store) count_N() (n int, err error) {\n\terr = s.db.QueryRow(countUsers, 1).Scan(&n) @ < c_N\n\treturn n, err\n}", says},
		{"func F(s *store) int {\n\tn, _ := s.count_N() //: c_N\n\treturn n\n}\n\nfunc (s *store) count_N() (n int, err error) {\n\terr = s.db.QueryRow(countUsers, 1).Scan(&n) @ < c_N\n\treturn n, err\n}", ""},
	}, counted)
	checkShapesIn(t, countforexistence.Rule(), head, "main.handle.Get", 0, []shape{
		{"func F(s *store) bool {\n\tvar n int\n\ts.db.Get(&n, \"SELECT COUNT(*) FROM t\") @\n\treturn n == 0\n}", says},
	}, counted)
}
