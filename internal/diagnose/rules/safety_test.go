package rules_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/rules"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// atStake are lines for which the faster form would be wrong: "RULE CONTEXT".
const atStake = `package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"os"
	"os/exec"
	"reflect"
	"strconv"
	"strings"
	"time"
)

func query(db *sql.DB, id int, names []string) {
	db.QueryRow(fmt.Sprintf("select a from t where id = %d", id)) //@ sprintf-simple query | fmt.Sprintf
	var b bytes.Buffer
	b.WriteString("select a from t where id = ")
	b.WriteString(strconv.Itoa(id)) //@ format-then-append query | runtime.mallocgc runtime.slicebytetostring strconv.Itoa
	db.Query(b.String())
	text := "select a from t where name in ("
	for _, n := range names {
		text += "'" + n + "'," //@ concat-loop query | runtime.concatstring3
	}
	db.Query(text + "'')")
	db.Query("select a from t where b = '" + strings.NewReplacer("'", "''").Replace(names[0]) + "'") //@ replacer-per-call query | strings.NewReplacer
}

func shell(ctx context.Context, name string) {
	exec.CommandContext(ctx, "sh", "-c", fmt.Sprintf("convert %s", name)).Run() //@ sprintf-simple shell | fmt.Sprintf
}

func page(w http.ResponseWriter, name string) {
	w.Write([]byte(fmt.Sprintf("<h1>%s</h1>", name))) //@ fmt-then-bytes markup | runtime.mallocgc runtime.slicebytetostring fmt.Sprintf
	io.WriteString(w, fmt.Sprintf("<p>%s</p>", name)) //@ sprintf-simple markup | fmt.Sprintf
}

func file(dir, name string) ([]byte, error) {
	return os.ReadFile(fmt.Sprintf("%s/%s.json", dir, name)) //@ sprintf-simple file | fmt.Sprintf
}

func verify(r *http.Request, key, body []byte) bool {
	mac := hmac.New(sha256.New, key)
	mac.Write(body)
	expected, signature := mac.Sum(nil), r.Header.Get("X-Signature")
	given, _ := hex.DecodeString(signature)
	if reflect.DeepEqual(given, expected) { //@ deepequal-typed secret | reflect.DeepEqual
		return true
	}
	if strings.Compare(string(expected), "abcd") == 0 { //@ string-bytes-copy secret | runtime.slicebytetostring
		return true
	}
	return strings.ToLower(signature) == strings.ToLower(hex.EncodeToString(expected)) //@ fold-compare secret | strings.ToLower
}

func fetch(r *http.Request, jar http.CookieJar) {
	client := &http.Client{Jar: jar, Transport: &http.Transport{}}
	client.Do(r) //@ client-per-request cookies | net/http.(*Transport).dialConn net/http.(*Client).Do
}

func newSessionToken() string {
	r := rand.New(rand.NewSource(time.Now().UnixNano())) //@ rand-source-per-call secret | math/rand.NewSource
	return strconv.Itoa(r.Int())
}

func main() {}
`

// plain are the same mistakes where nothing is at stake.
const plain = `package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"
)

func line(w io.Writer, id int, names []string) string {
	key := fmt.Sprintf("user:%d", id) //@ sprintf-simple | fmt.Sprintf
	var b bytes.Buffer
	b.WriteString(strconv.Itoa(id)) //@ format-then-append | runtime.mallocgc runtime.slicebytetostring strconv.Itoa
	b.WriteTo(w)
	text := ""
	for _, n := range names {
		text += n + "," //@ concat-loop | runtime.concatstring3
	}
	w.Write([]byte(fmt.Sprintf("%s\n", key))) //@ fmt-then-bytes | runtime.mallocgc runtime.slicebytetostring fmt.Sprintf
	return strings.NewReplacer("_", "-").Replace(text) //@ replacer-per-call | strings.NewReplacer
}

func same(a, b []byte, s string) bool {
	if reflect.DeepEqual(a, b) { //@ deepequal-typed | reflect.DeepEqual
		return true
	}
	if strings.Compare(string(a), "abcd") == 0 { //@ string-bytes-copy | runtime.slicebytetostring
		return true
	}
	return strings.ToLower(s) == strings.ToLower(string(b)) //@ fold-compare | strings.ToLower
}

func fetch(r *http.Request) {
	client := &http.Client{Transport: &http.Transport{}}
	client.Do(r) //@ client-per-request | net/http.(*Transport).dialConn net/http.(*Client).Do
}

func pick(n int) int {
	r := rand.New(rand.NewSource(time.Now().UnixNano())) //@ rand-source-per-call | math/rand.NewSource
	return r.Intn(n)
}

func main() {}
`

// TestFixesKeepPromisesOfSafety: no fix makes code less safe that passes its text or value on;
// where nothing is at stake, the fix is the faster form alone.
func TestFixesKeepPromisesOfSafety(t *testing.T) {
	cautions := map[string]string{
		"query": "placeholder", "shell": "separate arguments", "markup": "html.EscapeString", "file": "os.OpenInRoot", "cookies": "shared Jar", "secret": "",
	}
	secret := map[string]string{"rand-source-per-call": "crypto/rand"}
	for _, src := range []string{atStake, plain} {
		pass, names := ruletest.MadeUp(t, src)
		for line, name := range names {
			id, context, _ := strings.Cut(name, " ")
			m := match(t, pass, id, line)
			if m == nil {
				t.Errorf("line %d: %s says nothing", line, name)
				continue
			}
			want := cautions[context]
			if context == "secret" {
				want = "hmac.Equal"
				if secret[id] != "" {
					want = secret[id]
				}
			}
			if want != "" && !strings.Contains(m.Fix, want) {
				t.Errorf("%s: %q has no %s", name, m.Fix, want)
			}
			for _, caution := range []string{"placeholder", "separate arguments", "html.EscapeString", "os.OpenInRoot", "url.PathEscape", "shared Jar", "hmac.Equal", "crypto/rand"} {
				if caution != want && strings.Contains(m.Fix, caution) {
					t.Errorf("%s: %q speaks of %s", name, m.Fix, caution)
				}
			}
		}
	}
}

// match returns a rule's finding at a line.
func match(t *testing.T, p *rule.Pass, id string, line int) *rule.Match {
	t.Helper()
	all := rules.All()
	i := slices.IndexFunc(all, func(r rule.Rule) bool { return r.ID == id })
	if i < 0 {
		t.Fatalf("no rule %s", id)
	}
	matches, err := all[i].Find(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	for i := range matches {
		if s := matches[i].Site; s != nil && s.Line == line {
			return &matches[i]
		}
	}
	return nil
}
