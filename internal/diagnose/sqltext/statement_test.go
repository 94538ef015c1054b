package sqltext_test

import (
	"slices"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/sqltext"
)

// TestTables: which tables a query reads whose result depends on them alone.
func TestTables(t *testing.T) {
	for text, want := range map[string][]string{
		"SELECT a FROM flags": {"flags"},
		"-- name: List :many\nselect * from public.\"Flags\" f, zones AS z, c;": {"flags", "zones", "c"},
		"SELECT a FROM x JOIN y ON x.i = y.i WHERE x.n IN (SELECT n FROM z)":    {"x", "y", "z"},
		"SELECT a, b FROM x ORDER BY b, c LIMIT 3, 4":                           {"x"},
		"SELECT (SELECT max(n) FROM y) FROM (SELECT 1 FROM x) s":                {"y", "x"},
		"SELECT a FROM x WHERE date = ?":                                        {"x"},
		"SELECT 1":                                                              nil,
		"SELECT a FROM x WHERE until > now()":                                   nil,
		"SELECT a FROM x WHERE until > CURRENT_TIMESTAMP":                       nil,
		"SELECT a FROM x FOR UPDATE":                                            nil,
		"SELECT a FROM information_schema.tables":                               nil,
		"SELECT name FROM sqlite_master":                                        nil,
		"SELECT n FROM generate_series(1, 9) n":                                 nil,
		"SELECT a FROM x; DELETE FROM x":                                        nil,
		"UPDATE x SET a = 1":                                                    nil,
		"":                                                                      nil,
	} {
		if got := sqltext.Tables(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestWrites: which texts may write to a table.
func TestWrites(t *testing.T) {
	for text, want := range map[string]bool{
		"UPDATE flags SET a = 1":                                                      true,
		"update only app.\"flags\" set a = 1":                                         true,
		"INSERT INTO flags(a) VALUES (1)":                                             true,
		"CREATE TABLE x (a); INSERT INTO x VALUES (1); REPLACE INTO flags VALUES (2)": true,
		"DELETE FROM flags":                                                           true,
		"INSERT INTO %s (a) VALUES (?)":                                               true,
		"UPDATE ":                                                                     true,
		"UPDATE":                                                                      false,
		"cannot update flags":                                                         false,
		"UPDATE other SET flags = 1":                                                  false,
		"SELECT a FROM flags":                                                         false,
		"INSERT INTO flags_old SELECT a FROM flags":                                   false,
		"": false,
	} {
		if got := sqltext.Writes(text, "flags"); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
