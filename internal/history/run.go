package history

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hone-go/hone/stats"
)

// Run is one measurement of a commit.
type Run struct {
	ID         string    `json:"id"` // random, in hexadecimal; "" for a new one
	Commit     string    `json:"commit"`
	CommitTime time.Time `json:"commit_time"`
	Subject    string    `json:"subject,omitempty"` // first line of the commit's message
	Branch     string    `json:"branch,omitempty"`
	Dirty      bool      `json:"dirty,omitempty"` // the tree had uncommitted changes
	Made       time.Time `json:"made"`
	Go         string    `json:"go,omitempty"`
	Machine    string    `json:"machine,omitempty"` // processor, cores, operating system; hone never compares results of different machines
	Kind       string    `json:"kind"`              // "bench", "file" or "recording"
	Note       string    `json:"note,omitempty"`
}

// Series names a metric of a benchmark, or of a recorded program.
type Series struct {
	Package string `json:"package,omitempty"`
	Name    string `json:"name"`
	Unit    string `json:"unit"`
}

// Sample holds the values that a run measured for a series, in the order of measurement.
type Sample struct {
	Series
	Values []float64 `json:"values"`
}

// File is a file that belongs to a run: a profile, the findings.
type File struct {
	Name string `json:"name"`
	Data []byte `json:"data"`
}

// Add stores a run with its samples and files. When it returns nil, everything is on disk. If a run
// with this ID exists, Add leaves it unchanged.
func (s *Store) Add(ctx context.Context, r Run, samples []Sample, files []File) (id string, err error) {
	if len(samples) == 0 {
		return "", errors.New("history: a run without samples")
	}
	if r.ID == "" {
		var b [16]byte
		rand.Read(b[:])
		r.ID = hex.EncodeToString(b[:])
	}
	if r.Made.IsZero() {
		r.Made = time.Now()
	}
	err = s.write(ctx, func(tx *sql.Tx) error {
		var seq int64
		err := tx.QueryRowContext(ctx, `INSERT INTO runs (id, commit_hash, commit_time, subject, branch, dirty, made, go, machine, kind, note)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT (id) DO NOTHING RETURNING seq`,
			r.ID, r.Commit, r.CommitTime.Unix(), r.Subject, r.Branch, number(r.Dirty), r.Made.UnixMilli(), r.Go, r.Machine, r.Kind, r.Note).Scan(&seq)
		if errors.Is(err, sql.ErrNoRows) {
			return nil // it exists
		}
		if err != nil {
			return err
		}
		if err := addSamples(ctx, tx, seq, samples); err != nil {
			return err
		}
		return s.addFiles(ctx, tx, seq, files)
	})
	if err != nil {
		return "", fmt.Errorf("history: store the run: %w", err)
	}
	return r.ID, nil
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// rowsAtOnce is the number of samples that one statement inserts.
const rowsAtOnce = 50

func addSamples(ctx context.Context, tx *sql.Tx, run int64, samples []Sample) error {
	for _, sm := range samples {
		if len(sm.Values) == 0 || len(sm.Values) > mostValues {
			return fmt.Errorf("%s %s %s has %d values, want 1 to %d", sm.Package, sm.Name, sm.Unit, len(sm.Values), mostValues)
		}
	}
	ids, err := seriesIDs(ctx, tx, samples)
	if err != nil {
		return err
	}
	var insert *sql.Stmt
	rows := 0 // of insert
	for some := range slices.Chunk(samples, rowsAtOnce) {
		if len(some) != rows { // the remaining samples
			if insert, err = tx.PrepareContext(ctx, insertSamples(len(some))); err != nil {
				return err
			}
			defer insert.Close()
			rows = len(some)
		}
		var args []any
		for _, sm := range some {
			args = append(args, run, ids[sm.Series], len(sm.Values), stats.Median(sm.Values), pack(sm.Values))
		}
		if _, err := insert.ExecContext(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// insertSamples returns the statement that inserts that many rows.
func insertSamples(rows int) string {
	text := []byte(`INSERT INTO samples (run, series, n, median, packed) VALUES `)
	for i := range rows {
		if i > 0 {
			text = append(text, ',')
		}
		text = fmt.Appendf(text, "($%d,$%d,$%d,$%d,$%d)", 5*i+1, 5*i+2, 5*i+3, 5*i+4, 5*i+5)
	}
	return string(text)
}

// seriesIDs returns the IDs of the samples' series, and adds those that are new.
func seriesIDs(ctx context.Context, tx *sql.Tx, samples []Sample) (map[Series]int64, error) {
	ids, err := knownSeries(ctx, tx)
	if err != nil {
		return nil, err
	}
	var unknown []Series
	for _, sm := range samples {
		if _, ok := ids[sm.Series]; !ok {
			unknown = append(unknown, sm.Series)
		}
	}
	if len(unknown) == 0 {
		return ids, nil
	}
	// Always insert in the same order: two transactions that add the same series in different
	// orders could deadlock. ON CONFLICT DO NOTHING keeps what another process has just added.
	slices.SortFunc(unknown, func(a, b Series) int {
		return cmp.Or(cmp.Compare(a.Package, b.Package), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Unit, b.Unit))
	})
	for _, c := range unknown {
		if _, err := tx.ExecContext(ctx, `INSERT INTO series (package, name, unit) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, c.Package, c.Name, c.Unit); err != nil {
			return nil, err
		}
	}
	return knownSeries(ctx, tx)
}

func knownSeries(ctx context.Context, tx *sql.Tx) (map[Series]int64, error) {
	rows, err := tx.QueryContext(ctx, `SELECT id, package, name, unit FROM series`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	ids := map[Series]int64{}
	for rows.Next() {
		var id int64
		var c Series
		if err := rows.Scan(&id, &c.Package, &c.Name, &c.Unit); err != nil {
			return nil, err
		}
		ids[c] = id
	}
	return ids, rows.Err()
}

func (s *Store) addFiles(ctx context.Context, tx *sql.Tx, run int64, files []File) error {
	hashOf := func(f File) string {
		sum := sha256.Sum256(f.Data)
		return hex.EncodeToString(sum[:])
	}
	for _, f := range slices.SortedFunc(slices.Values(files), func(a, b File) int { return cmp.Compare(hashOf(a), hashOf(b)) }) {
		hash := hashOf(f)
		if _, err := tx.ExecContext(ctx, `INSERT INTO blobs (hash, size, data) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
			hash, len(f.Data), s.encode.EncodeAll(f.Data, nil)); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO files (run, name, hash) VALUES ($1, $2, $3)`, run, f.Name, hash); err != nil {
			return err
		}
	}
	return nil
}

// Prune removes runs made before the given time, except the newest keep runs, and returns how many
// it removed. A SQLite file shrinks; PostgreSQL reuses the space for later runs.
func (s *Store) Prune(ctx context.Context, keep int, before time.Time) (removed int64, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `DELETE FROM runs WHERE made < $1 AND seq NOT IN (SELECT seq FROM runs ORDER BY commit_time DESC, made DESC LIMIT $2)`,
			before.UnixMilli(), keep)
		if err != nil {
			return err
		}
		if removed, err = result.RowsAffected(); err != nil {
			return err
		}
		for _, text := range []string{
			`DELETE FROM blobs WHERE hash NOT IN (SELECT hash FROM files)`,
			`DELETE FROM series WHERE id NOT IN (SELECT series FROM samples)`,
		} {
			if _, err := tx.ExecContext(ctx, text); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && removed > 0 {
		_, err = s.db.ExecContext(ctx, `VACUUM`)
	}
	if err != nil {
		return 0, fmt.Errorf("history: prune: %w", err)
	}
	return removed, nil
}
