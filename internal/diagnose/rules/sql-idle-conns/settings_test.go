package sqlidleconns

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

const program = `package main

import (
	"database/sql"
	"time"
)

const minute = time.Minute

func configure(db *sql.DB, n int) {
	%s
}

func main() {
	%s //@ here
	configure(db, 4)
}
`

// TestReason: the settings in the code decide why connections are closed, and whether they can be.
func TestReason(t *testing.T) {
	const open, handed = `db, _ := sql.Open("fake", "")`, `var db *sql.DB`
	for _, test := range []struct {
		name, open, set string
		load            int
		want            string // in the cause; "" when nothing is reported
		confidence      rule.Confidence
	}{
		{"default", open, "db.SetMaxOpenConns(n)", 8, "only two idle connections", rule.Likely},
		{"default, two open", open, "db.SetMaxOpenConns(2)", 8, "", ""},
		{"default, two requests", open, "", 2, "", ""},
		{"default, no load", open, "", 0, "only two idle connections", rule.Likely},
		{"zero", open, "db.SetMaxIdleConns(0)", 8, "db.SetMaxIdleConns(0) (main.go:11) keeps none", rule.Likely},
		{"few", open, "db.SetMaxIdleConns(3)", 8, "keeps 3 of them", rule.Likely},
		{"enough for the load", open, "db.SetMaxIdleConns(8)", 8, "", ""},
		{"enough for the pool", open, "db.SetMaxOpenConns(4); db.SetMaxIdleConns(4)", 8, "", ""},
		{"variable", open, "db.SetMaxIdleConns(n)", 8, "0 keeps none", rule.Likely},
		{"nanoseconds", open, "db.SetMaxIdleConns(8); db.SetConnMaxLifetime(5)", 8, "closes them after 5ns", rule.Likely},
		{"minutes", open, "db.SetMaxIdleConns(8); db.SetConnMaxIdleTime(5 * minute)", 8, "", ""},
		{"elsewhere", handed, "", 8, "unless SetMaxIdleConns says otherwise", rule.Hint},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &settings{calls: map[string][]setting{}}
			s.read(ruletest.Places(t, fmt.Sprintf(program, test.set, test.open))["here"])
			got, ok := s.reason(test.load)
			if ok != (test.want != "") || !strings.Contains(got.cause, test.want) || got.confidence != test.confidence {
				t.Errorf("%t %+v, want %q [%s]", ok, got, test.want, test.confidence)
			}
		})
	}
}
