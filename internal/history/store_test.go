package history

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// postgresEnv names the address of a PostgreSQL server for tests; each test creates a schema of its
// own there.
const postgresEnv = "HONE_TEST_POSTGRES"

// databases runs a test on both kinds of database.
func databases(t *testing.T, test func(t *testing.T, where string)) {
	t.Run("sqlite", func(t *testing.T) { test(t, filepath.Join(t.TempDir(), "dir with space", "h.db")) })
	t.Run("postgres", func(t *testing.T) {
		server := os.Getenv(postgresEnv)
		if server == "" {
			t.Skip("set " + postgresEnv + " to the address of a PostgreSQL server to run this; .ci/run does")
		}
		test(t, postgresSchema(t, server))
	})
}

// postgresSchema creates a schema and returns its address.
func postgresSchema(t testing.TB, server string) string {
	t.Helper()
	admin, err := Open(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("t%d_%d", os.Getpid(), time.Now().UnixNano())
	if _, err := admin.db.ExecContext(t.Context(), "CREATE SCHEMA "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := admin.db.ExecContext(context.Background(), "DROP SCHEMA "+name+" CASCADE"); err != nil {
			t.Error(err)
		}
		admin.Close()
	})
	separator := "?"
	if strings.Contains(server, "?") {
		separator = "&"
	}
	return server + separator + "search_path=" + name
}

func open(t testing.TB, where string) *Store {
	t.Helper()
	s, err := Open(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// made returns the run of the n-th commit.
func made(n int) Run {
	return Run{
		Commit: fmt.Sprintf("%040x", n+0xabcd0000), CommitTime: time.Unix(int64(1000+n), 0).UTC(), Subject: fmt.Sprintf("commit %d", n), Branch: "main",
		Made: time.UnixMilli(int64(5000 + n)).UTC(), Go: "go1.26.8", Machine: "m", Kind: "bench",
	}
}

func sample(name, unit string, values ...float64) Sample {
	return Sample{Series{"example.com/x", name, unit}, values}
}

func TestStore(t *testing.T) {
	databases(t, func(t *testing.T, where string) {
		s := open(t, where)
		ctx := t.Context()
		profile := bytes.Repeat([]byte("profile "), 1000)
		var ids []string
		for n := range 3 {
			id, err := s.Add(ctx, made(n), []Sample{sample("BenchmarkA-2", "ns/op", 3, 1, 2+float64(n)), sample("BenchmarkA-2", "allocs/op", 7, 7)},
				[]File{{"cpu.pprof", profile}, {"findings.json", fmt.Appendf(nil, `{"n":%d}`, n)}})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		runs, err := s.Runs(ctx, 2)
		if err != nil {
			t.Fatal(err)
		}
		want := []Listed{{made(1), 2, 5, []string{"cpu.pprof", "findings.json"}}, {made(2), 2, 5, []string{"cpu.pprof", "findings.json"}}}
		for i := range want {
			want[i].ID = ids[i+1]
		}
		if d := cmp.Diff(want, runs); d != "" {
			t.Errorf("runs (-want +got):\n%s", d)
		}
		if points, err := s.Points(ctx, Series{"example.com/x", "BenchmarkA-2", "ns/op"}); err != nil || len(points) != 3 || points[2].Median != 3 || points[2].Low != 1 || points[2].High != 4 {
			t.Errorf("%+v, %v", points, err)
		}
		if got, err := s.Samples(ctx, ids[2]); err != nil || !cmp.Equal(got[1].Values, []float64{3, 1, 4}) {
			t.Errorf("samples are not in the order in which they ran: %v, %v", got, err)
		}
		if data, err := s.File(ctx, ids[0], "cpu.pprof"); err != nil || !bytes.Equal(data, profile) {
			t.Errorf("%d bytes, %v", len(data), err)
		}
		if r, err := s.Find(ctx, made(1).Commit); err != nil || r.ID != ids[1] {
			t.Errorf("%v, %v", r, err)
		}
		for _, name := range []string{"nowhere", "%%%%", ""} {
			if _, err := s.Find(ctx, name); err == nil {
				t.Errorf("found %q", name)
			}
		}
		var blobs int
		if err := s.db.QueryRowContext(ctx, `SELECT COUNT(*) FROM blobs`).Scan(&blobs); err != nil || blobs != 4 {
			t.Errorf("%d blobs, want the profile once and three findings; %v", blobs, err)
		}
		// The run is in the database; with the same ID it is not added again.
		again := made(0)
		again.ID = ids[0]
		if _, err := s.Add(ctx, again, []Sample{sample("BenchmarkB", "ns/op", 1)}, nil); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Samples(ctx, ids[0]); err != nil || len(got) != 2 {
			t.Errorf("%v, %v", got, err)
		}
		if n, err := s.Prune(ctx, 1, time.UnixMilli(6000)); err != nil || n != 2 {
			t.Errorf("pruned %d, %v", n, err)
		}
		if err := s.db.QueryRowContext(ctx, `SELECT COUNT(*) FROM blobs`).Scan(&blobs); err != nil || blobs != 2 {
			t.Errorf("%d blobs are left, want 2; %v", blobs, err)
		}
	})
}

// TestAddWhole: a run that cannot be stored leaves nothing behind.
func TestAddWhole(t *testing.T) {
	databases(t, func(t *testing.T, where string) {
		s := open(t, where)
		bad := []Sample{sample("BenchmarkA", "ns/op", 1), sample("BenchmarkB", "ns/op")}
		if _, err := s.Add(t.Context(), made(0), bad, nil); err == nil || !strings.Contains(err.Error(), "BenchmarkB") {
			t.Errorf("error %v", err)
		}
		if _, err := s.Add(t.Context(), made(0), nil, nil); err == nil {
			t.Error("a run without samples was stored")
		}
		if runs, err := s.Runs(t.Context(), 0); err != nil || len(runs) > 0 {
			t.Errorf("%v, %v", runs, err)
		}
		if all, err := s.AllSeries(t.Context()); err != nil || len(all) > 0 {
			t.Errorf("%v, %v", all, err)
		}
	})
}

func TestExchange(t *testing.T) {
	databases(t, func(t *testing.T, where string) {
		s := open(t, where)
		for n := range 2 {
			if _, err := s.Add(t.Context(), made(n), []Sample{sample("BenchmarkA", "ns/op", 1, 2.5)}, []File{{"x", []byte{0, 255}}}); err != nil {
				t.Fatal(err)
			}
		}
		var first, second bytes.Buffer
		if _, err := s.Export(t.Context(), &first); err != nil {
			t.Fatal(err)
		}
		other := open(t, filepath.Join(t.TempDir(), "other.db"))
		for range 2 { // the second time changes nothing
			if n, err := other.Import(t.Context(), bytes.NewReader(first.Bytes())); err != nil || n != 2 {
				t.Fatalf("%d, %v", n, err)
			}
		}
		if _, err := other.Export(t.Context(), &second); err != nil || first.String() != second.String() {
			t.Errorf("%v\n%s\nis not\n%s", err, second.String(), first.String())
		}
		for _, text := range []string{"{", `{"schema":"x"}`, `{"schema":"hone/history/v1"}`, `{"schema":"hone/history/v1","run":{"id":"a"}}`} {
			if _, err := other.Import(t.Context(), strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), "line 1") {
				t.Errorf("%s: %v", text, err)
			}
		}
	})
}

// TestNewerSchema: a database of a later hone is refused, and is not changed.
func TestNewerSchema(t *testing.T) {
	databases(t, func(t *testing.T, where string) {
		s := open(t, where)
		if _, err := s.db.ExecContext(t.Context(), `UPDATE hone_history SET version = 99`); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), where); err == nil || !strings.Contains(err.Error(), "newer hone") {
			t.Errorf("error %v", err)
		}
	})
}

func TestOpenErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(file, bytes.Repeat([]byte("no database "), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, where := range []string{file, filepath.Join(file, "below"), "postgres://user:secret@127.0.0.1:1/db?connect_timeout=2"} {
		_, err := Open(t.Context(), where)
		if err == nil {
			t.Errorf("%s: no error", where)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("the error shows the password: %v", err)
		}
	}
}
