package sqltext_test

import (
	"fmt"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/sqltext"
)

// TestAccess: which row of which table a statement is about.
func TestAccess(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT 1 FROM follows WHERE user_name = ? AND topic = ?":               "select follows [user_name topic] [0 1]",
		"SELECT EXISTS(SELECT 1 FROM public.follows f WHERE f.id = $1)":         "select follows [id] [0]",
		"select name from users where id = $1 and deleted_at is null limit 1;":  "select users [id] [0]",
		"UPDATE app.users SET a = ?, b = ? WHERE id = ? AND state = 'new'":      "update users [id] [2]",
		"DELETE FROM users WHERE id = $1::uuid":                                 "delete users [id] [0]",
		"INSERT INTO users (a, b) VALUES (?, ?)":                                "insert users [] []",
		"INSERT OR IGNORE INTO users (a, b) VALUES (?, ?)":                      "insert users [] []",
		"SELECT a FROM users WHERE id = ? FOR UPDATE":                           "",
		"SELECT a FROM users WHERE age > ?":                                     "",
		"SELECT a FROM users WHERE id = ? OR name = ?":                          "",
		"SELECT a FROM users":                                                   "",
		"SELECT a FROM users u JOIN teams t ON t.id = u.team WHERE u.id = ?":    "",
		"SELECT a FROM users WHERE id IN (?, ?)":                                "",
		"SELECT a FROM users WHERE id = (SELECT owner FROM teams WHERE id = ?)": "",
		"CREATE TABLE users (id INTEGER)":                                       "",
		"UPDATE users SET n = n + 1":                                            "",
		"SELECT count(*) FROM users WHERE team = ? GROUP BY role":               "",
		"SELECT until FROM leases WHERE id = ? AND until > now()":               "",
		"SELECT id FROM users WHERE email = ? ORDER BY id LIMIT 1":              "select users [email] [0]",
		"update users set n = n + $1 where id = $2 returning n":                 "update users [id] [1]",
	} {
		got := ""
		if a := sqltext.AccessOf(text); a != nil {
			got = fmt.Sprint(a.Verb, " ", a.Table, " ", a.Keys, " ", a.Params)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
