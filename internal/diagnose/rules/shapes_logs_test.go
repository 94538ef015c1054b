package rules_test

import (
	"path/filepath"
	"testing"

	logargsboxed "github.com/hone-go/hone/internal/diagnose/rules/log-args-boxed"
	logtextunwritten "github.com/hone-go/hone/internal/diagnose/rules/log-text-unwritten"
	poolnonpointer "github.com/hone-go/hone/internal/diagnose/rules/pool-non-pointer"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

const loggers = `import (
	"encoding/json"
	"fmt"
	"log/slog"
)

var _, _ = json.Marshal, slog.Debug

type logger struct {
	level int
	lines []string
}

func (l *logger) Debug(msg string) {
	if l.level > 0 {
		fmt.Println(msg)
	}
}

func (l *logger) Tracef(format string, args ...any) {
	if l.level < 2 {
		return
	}
	fmt.Printf(format, args...)
}

func (l *logger) Debugs(msg string) { l.lines = append(l.lines, msg) }

type debugger interface{ Debug(msg string) }

type printer interface{ Print(msg string) }

func use(string) {}`

// TestLogTextUnwrittenShapes: texts for loggers of the program, and texts in variables.
func TestLogTextUnwrittenShapes(t *testing.T) {
	checkShapes(t, logtextunwritten.Rule(), loggers, "fmt.Sprint", 0, []shape{
		{"func F(l *slog.Logger, x any) { l.Debug(fmt.Sprint(x)) } @", "l.Debug"},
		{"func F(l *logger, x any) { l.Debug(fmt.Sprint(x)) } @", "l.Debug"},
		{"func F(l *logger, x any) { l.Debug(\"got \" + fmt.Sprint(x)) } @", "l.Debug"},
		{"func F(l *logger, x any) { l.Tracef(\"%s\", fmt.Sprint(x)) } @", "l.Tracef"},
		{"func F(l *logger, x any) { l.Debugs(fmt.Sprint(x)) } @", ""},
		{"func F(l debugger, x any) { l.Debug(fmt.Sprint(x)) } @", "l.Debug"},
		{"func F(l printer, x any) { l.Print(fmt.Sprint(x)) } @", ""},
		{"func F(debugf func(string), x any) { debugf(fmt.Sprint(x)) } @", "debugf"},
		{"func F(write func(string), x any) { write(fmt.Sprint(x)) } @", ""},
		{"func F(l *slog.Logger, x any) {\n\ttext := fmt.Sprint(x) @\n\tl.Debug(\"got\", \"x\", text)\n}", "l.Debug"},
		{"func F(l *slog.Logger, x any) {\n\ttext := fmt.Sprint(x) @\n\tl.Debug(\"got\", \"x\", text)\n\tuse(text)\n}", ""},
		{"func F(l *slog.Logger, x any) string {\n\ttext := fmt.Sprint(x) @\n\tl.Debug(text)\n\treturn text\n}", ""},
	})
	checkShapes(t, logtextunwritten.Rule(), loggers, "encoding/json.Marshal", 0, []shape{
		{"func F(l *slog.Logger, x any) {\n\tbody, _ := json.Marshal(x) @\n\tl.Debug(\"got\", \"body\", string(body))\n}", "l.Debug"},
		{"func F(l *slog.Logger, x any) error {\n\tbody, err := json.Marshal(x) @\n\tl.Debug(\"got\", \"body\", string(body))\n\treturn err\n}", ""},
	})
}

// TestLogArgsBoxedShapes: of a function value only the name says that it logs.
func TestLogArgsBoxedShapes(t *testing.T) {
	checkShapes(t, logargsboxed.Rule(), loggers, "runtime.convT64", 0, []shape{
		{"func F(debugf func(string, ...any), n int) {\n\tdebugf(\"got %d\", n) @\n}", "debugf is called with its level off"},
		{"func F(emit func(string, ...any), n int) {\n\temit(\"got %d\", n) @\n}", ""},
		{"func F(l *logger, n int) {\n\tl.Tracef(\"got %d\", n) @\n}", "l.Tracef is called with its level off"},
	})
	checkShapes(t, logargsboxed.Rule(), loggers, "fmt.Printf main.main", 0, []shape{
		{"func F(debugf func(string, ...any), n int) {\n\tdebugf(\"got %d\", n) @\n}", ""},
	})
}

// TestPoolNonPointerShapes: neither a defer outside of loops nor a literal that is called at once
// allocates, so the allocations of the line are those of Put.
func TestPoolNonPointerShapes(t *testing.T) {
	checkShapes(t, poolnonpointer.Rule(), "import \"sync\"\n\nvar pool sync.Pool", "", 24, []shape{
		{"func F(b []byte) { pool.Put(b) } @", "Put takes b by value"},
		{"func F(b []byte) {\n\tdefer pool.Put(b) @\n\tb[0] = 1\n}", "Put takes b by value"},
		{"func F(b []byte) {\n\tdefer func() { pool.Put(b[:0]) }() @\n\tb[0] = 1\n}", "Put takes b[:0] by value"},
		{"func F(bs [][]byte) {\n\tfor _, b := range bs {\n\t\tdefer pool.Put(b) @\n\t}\n}", ""},
		{"func F(b *[]byte) {\n\tdefer pool.Put(b) @\n\t(*b)[0] = 1\n}", ""},
	})
}

// TestLogTextWrapped: loggers that test the level somewhere below, after their arguments are made.
func TestLogTextWrapped(t *testing.T) {
	r := logtextunwritten.Rule()
	archive := filepath.Join("log-text-unwritten", "testdata", "wrapped.txtar")
	ruletest.Compare(t, r, ruletest.RecordFor(t, r, archive), ruletest.Wanted(t, archive, r.ID))
}
