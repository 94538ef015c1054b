package flow_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

const queries = `package main

import "database/sql"

type store struct{ db, last *sql.DB }

func scan(rows *sql.Rows) (n int, err error) { defer rows.Close(); return 0, nil }

func (s *store) look(id int) (n int, err error) {
%s
}

func main() { _, _ = (&store{}).look(1) }
`

// TestUnclosed: which functions leave the rows open that a query returns.
func TestUnclosed(t *testing.T) {
	const query = "rows, err := s.db.Query(\"q\", id) //@ here\nif err != nil { return 0, err }\n"
	for _, test := range []struct{ what, code, want string }{
		{"never", query + "if rows.Next() { err = rows.Scan(&n) }\nreturn n, err", "never calls it"},
		{"deferred", query + "defer rows.Close()\nif rows.Next() { err = rows.Scan(&n) }\nreturn n, err", ""},
		{"deferred in a literal", query + "defer func() { rows.Close() }()\nreturn n, err", ""},
		{"read to the end", query + "for rows.Next() { err = rows.Scan(&n) }\nreturn n, err", ""},
		{"left early", query + "for rows.Next() { if err := rows.Scan(&n); n > 3 { return n, err } }\nreturn n, rows.Close()", "returns on line 12"},
		{"failure only", query + "for rows.Next() { if err := rows.Scan(&n); err != nil { return n, err } }\nrows.Close()\nreturn n, err", ""},
		{"passed to a function", query + "return scan(rows)", ""},
		{"skipped", "for range 3 {\nrows, err := s.db.Query(\"q\", id) //@ here\nif err != nil { return 0, err }\nif !rows.Next() { continue }\nrows.Close()\n}\nreturn n, nil", "continues its loop on line 13"},
		{"dropped", "_, err = s.db.Query(\"q\", id) //@ here\nreturn 0, err", "drops it"},
		{"kept", "s.last, err = sql.Open(\"d\", \"\") //@ here\nreturn 0, err", ""},
		{"transaction", "tx, err := s.db.Begin() //@ here\nif err != nil { return 0, err }\nif n > 2 { return n, nil }\nreturn n, tx.Commit()", "returns on line 12"},
		{"transaction rolled back", "tx, err := s.db.Begin() //@ here\nif err != nil { return 0, err }\ndefer tx.Rollback()\nif n > 2 { return n, nil }\nreturn n, tx.Commit()", ""},
	} {
		t.Run(test.what, func(t *testing.T) {
			cause, fix := flow.Unclosed(ruletest.Places(t, fmt.Sprintf(queries, test.code))["here"])
			if (cause == "") != (test.want == "") || !strings.Contains(cause, test.want) || (cause == "") != (fix == "") {
				t.Errorf("%q, %q; want %q", cause, fix, test.want)
			}
		})
	}
}
