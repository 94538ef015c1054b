package safety_test

import (
	"go/ast"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/diagnose/safety"
	"github.com/hone-go/hone/internal/diagnose/syntax"
)

const sinks = `package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

type finder interface{ Query(question string) string }

var kept string

func queries(ctx context.Context, db *sql.DB, tx *sql.Tx, q querier, f finder, id int, name string) string {
	db.QueryRow(fmt.Sprintf("select a from t where id = %d", id)) //@ query a number in QueryRow
	tx.ExecContext(ctx, fmt.Sprintf("delete from t where name = '%s'", name)) //@ query ExecContext of a transaction
	db.Prepare("select " + fmt.Sprintf("%s", name)) //@ query part of a concatenation
	q.QueryRowContext(ctx, fmt.Sprintf("select %d", id)) //@ query an interface of the program's own
	text := fmt.Sprintf("select %d", id) //@ query by way of a variable
	if id > 3 {
		text += " limit 1"
	}
	db.Query(text)
	var b strings.Builder
	b.WriteString(fmt.Sprintf("id = %d", id)) //@ query by way of a builder
	fmt.Fprintf(&b, "%s", name)
	db.Query(b.String())
	var parts []string
	parts = append(parts, fmt.Sprintf("id = %d", id)) //@ query by way of a slice
	db.Query("select 1 where " + strings.Join(parts, " or "))
	func() {
		db.Query(fmt.Sprintf("select %d", id)) //@ query in a literal
	}()
	kept = fmt.Sprintf("SELECT a FROM t WHERE id = %d", id) //@ query kept, and reads like a query
	db.Query("select a from t where name = $1", fmt.Sprintf("x%d", id)) //@ none an argument of a query
	f.Query(fmt.Sprintf("x%d", id)) //@ none no database
	kept = fmt.Sprintf("select a colour: %d", id) //@ none kept, and reads like English
	if fmt.Sprintf("select %d", id) == name { //@ none compared
		return ""
	}
	_ = errors.New(fmt.Sprintf("update t set %d", id)) //@ none an error
	return fmt.Sprintf("update t set a = %d", id) //@ query returned, and reads like a query
}

func shells(name string, n int) {
	exec.Command("sh", "-c", fmt.Sprintf("ls %s", name)).Run() //@ shell sh -c
	exec.CommandContext(context.Background(), "/bin/bash", "-c", "ls "+fmt.Sprint(name)).Run() //@ shell with a context
	exec.Command("sh", "-c", fmt.Sprintf("sleep %d", n)).Run() //@ none only a number
	exec.Command("ls", fmt.Sprintf("--sort=%s", name)).Run() //@ none an argument of a program
}

func pages(w http.ResponseWriter, out io.Writer, name string, n int) {
	w.Write([]byte(fmt.Sprintf("<p>%s</p>", name))) //@ markup written to a response
	io.WriteString(w, "<b>" + fmt.Sprintf("%s", name) + "</b>") //@ markup io.WriteString
	_ = template.HTML(fmt.Sprintf("%s", name)) //@ markup promised to be safe
	var buf bytes.Buffer
	buf.WriteString(fmt.Sprintf("<li class=x>%s</li>", name)) //@ markup by way of a buffer
	w.Write(buf.Bytes())
	io.WriteString(w, fmt.Sprintf("<p>%d</p>", n)) //@ none a number in a page
	io.WriteString(w, fmt.Sprintf("%s: 1 < 2\n", name)) //@ none plain text
	io.WriteString(out, fmt.Sprintf("<p>%s</p>", name)) //@ none another writer
}

func files(w http.ResponseWriter, r *http.Request, dir, name string, n int) {
	os.ReadFile(fmt.Sprintf("%s/%s.json", dir, name)) //@ file a name
	http.ServeFile(w, r, dir + fmt.Sprint(name)) //@ file served
	os.ReadFile(fmt.Sprintf("/proc/%d/stat", n)) //@ none a number in a name
	http.Get(fmt.Sprintf("http://h/%s", name)) //@ url Get
	http.NewRequest("GET", fmt.Sprintf("http://h/%s", name), nil) //@ url NewRequest
	http.Get("http://h/" + strconv.Itoa(n)) //@ none no format
	os.WriteFile("x", []byte(fmt.Sprintf("%s", name)), 0) //@ none the contents of a file
}

func main() {}
`

// TestDestination: a text is followed to where a value in it could be interpreted as a command.
func TestDestination(t *testing.T) {
	want := map[string]safety.Sink{"none": safety.NoSink, "query": safety.Query, "shell": safety.Shell, "markup": safety.Markup, "file": safety.FileName, "url": safety.URL}
	n := 0
	for name, p := range ruletest.Places(t, sinks) {
		n++
		kind, what, _ := strings.Cut(name, " ")
		calls := syntax.CallsOf(p, "fmt.Sprint*", "strconv.Itoa")
		if got := safety.DestinationOf(p, calls); got != want[kind] || len(calls) == 0 {
			t.Errorf("%s: %d, %d calls", what, got, len(calls))
		}
	}
	if n != 33 {
		t.Errorf("%d places", n)
	}
}

// TestAdvise: the safe form for a sink is proposed instead of the faster form, or with it.
func TestAdvise(t *testing.T) {
	const faster = "Concatenate."
	for s, want := range map[safety.Sink]string{
		safety.Query: "placeholder", safety.Shell: "separate arguments", safety.Markup: "html.EscapeString", safety.FileName: "os.OpenInRoot", safety.URL: "url.PathEscape",
	} {
		got := s.Advise(faster)
		if !strings.Contains(got, want) {
			t.Errorf("%q has no %s", got, want)
		}
		if replaced := s == safety.Query || s == safety.Shell; strings.Contains(got, faster) == replaced {
			t.Errorf("%q", got)
		}
	}
	if got := safety.NoSink.Advise(faster); got != faster {
		t.Errorf("%q", got)
	}
}

const secrets = `package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
)

type lexer struct{ token string }

func use(any) {}

func compare(r *http.Request, key, sum []byte, l *lexer, apiKey, sessionID string) {
	mac := hmac.New(sha256.New, key)
	expected := mac.Sum(nil)
	use(expected) //@ + made by hmac
	use(hex.EncodeToString(mac.Sum(sum))) //@ + Sum of a hmac
	signature := r.Header.Get("X-Hub-Signature")
	use(signature) //@ + named so
	use(apiKey) //@ + two words
	use(string(sessionID)) //@ + converted
	use(sum) //@ - a checksum
	use(l.token) //@ - a parser's token
	use(r.URL.Path) //@ - a path
	use(sha256.Sum256(sum)) //@ - a plain hash
}

func main() {}
`

// TestSecret: a value that must not be guessed is recognized by its name and by what created it.
func TestSecret(t *testing.T) {
	n := 0
	for name, p := range ruletest.Places(t, secrets) {
		n++
		var arg ast.Expr
		for _, call := range p.Calls() {
			if p.CalleeName(call) == "example.com/places.use" || strings.HasSuffix(p.CalleeName(call), ".use") {
				arg = call.Args[0]
			}
		}
		if got := safety.Secret(p, arg); got != (name[0] == '+') {
			t.Errorf("%s: %t", name, got)
		}
	}
	if n != 9 {
		t.Errorf("%d places", n)
	}
}
