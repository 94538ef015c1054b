package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// runColumns are the columns that scanRun reads.
const runColumns = `r.id, r.commit_hash, r.commit_time, r.subject, r.branch, r.dirty, r.made, r.go, r.machine, r.kind, r.note`

func scanRun(scan func(...any) error, more ...any) (Run, error) {
	var r Run
	var commitTime, made int64
	var dirty int
	err := scan(append([]any{&r.ID, &r.Commit, &commitTime, &r.Subject, &r.Branch, &dirty, &made, &r.Go, &r.Machine, &r.Kind, &r.Note}, more...)...)
	r.CommitTime, r.Made, r.Dirty = time.Unix(commitTime, 0).UTC(), time.UnixMilli(made).UTC(), dirty != 0
	return r, err
}

// Listed is a run with the size of its measurements.
type Listed struct {
	Run
	Series int      `json:"series"`
	Values int      `json:"values"`
	Files  []string `json:"files,omitempty"`
}

// Runs lists the newest runs, oldest first; most 0 lists all.
func (s *Store) Runs(ctx context.Context, most int) ([]Listed, error) {
	if most <= 0 {
		most = 1 << 30
	}
	rows, err := s.db.QueryContext(ctx, `SELECT `+runColumns+`, COUNT(p.n), COALESCE(SUM(p.n), 0) FROM (
		SELECT * FROM runs ORDER BY commit_time DESC, made DESC, seq DESC LIMIT $1) AS r
		LEFT JOIN samples AS p ON p.run = r.seq GROUP BY r.seq, `+runColumns+` ORDER BY r.commit_time, r.made, r.seq`, most)
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	defer rows.Close()
	var out []Listed
	for rows.Next() {
		var l Listed
		if l.Run, err = scanRun(rows.Scan, &l.Series, &l.Values); err != nil {
			return nil, fmt.Errorf("history: %w", err)
		}
		out = append(out, l)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	for i := range out {
		if out[i].Files, err = s.fileNames(ctx, out[i].ID); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *Store) fileNames(ctx context.Context, id string) ([]string, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT f.name FROM files AS f JOIN runs AS r ON f.run = r.seq WHERE r.id = $1 ORDER BY f.name`, id)
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("history: %w", err)
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

// Find returns the newest run of a commit, or the run with an ID. Both can be abbreviated to four
// or more characters.
func (s *Store) Find(ctx context.Context, name string) (Run, error) {
	if len(name) < 4 || strings.ContainsAny(name, `%_\`) {
		return Run{}, fmt.Errorf("history: %q is not a run or a commit: give at least its first four characters", name)
	}
	r, err := scanRun(s.db.QueryRowContext(ctx, `SELECT `+runColumns+` FROM runs AS r WHERE r.id LIKE $1 OR r.commit_hash LIKE $2
		ORDER BY r.made DESC, r.seq DESC LIMIT 1`, name+"%", name+"%").Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return Run{}, fmt.Errorf("history: no run of %q; hone history lists them", name)
	}
	if err != nil {
		return Run{}, fmt.Errorf("history: %w", err)
	}
	return r, nil
}

// File returns a file of a run.
func (s *Store) File(ctx context.Context, id, name string) ([]byte, error) {
	var data []byte
	err := s.db.QueryRowContext(ctx, `SELECT b.data FROM blobs AS b JOIN files AS f ON f.hash = b.hash JOIN runs AS r ON r.seq = f.run
		WHERE r.id = $1 AND f.name = $2`, id, name).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("history: the run has no %s", name)
	}
	if err == nil {
		data, err = s.decode.DecodeAll(data, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("history: %s: %w", name, err)
	}
	return data, nil
}

// Samples returns the samples of a run.
func (s *Store) Samples(ctx context.Context, id string) ([]Sample, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT c.package, c.name, c.unit, p.packed FROM samples AS p JOIN series AS c ON c.id = p.series
		JOIN runs AS r ON r.seq = p.run WHERE r.id = $1 ORDER BY c.package, c.name, c.unit`, id)
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	defer rows.Close()
	var out []Sample
	for rows.Next() {
		var sm Sample
		var packed []byte
		if err := rows.Scan(&sm.Package, &sm.Name, &sm.Unit, &packed); err != nil {
			return nil, fmt.Errorf("history: %w", err)
		}
		if sm.Values, err = unpack(packed); err != nil {
			return nil, fmt.Errorf("history: %s %s: %w", sm.Name, sm.Unit, err)
		}
		out = append(out, sm)
	}
	return out, rows.Err()
}

// AllSeries lists all series, sorted by package, name and unit.
func (s *Store) AllSeries(ctx context.Context) ([]Series, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT package, name, unit FROM series ORDER BY package, name, unit`)
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	defer rows.Close()
	var out []Series
	for rows.Next() {
		var c Series
		if err := rows.Scan(&c.Package, &c.Name, &c.Unit); err != nil {
			return nil, fmt.Errorf("history: %w", err)
		}
		out = append(out, c)
	}
	return out, rows.Err()
}

// Point is one run in a series.
type Point struct {
	Run    Run     `json:"run"`
	N      int     `json:"n"`
	Median float64 `json:"median"`
	Low    float64 `json:"low"` // smallest and largest sample
	High   float64 `json:"high"`
}

// Points returns the runs of a series, ordered by commit time, then by the time of the run.
func (s *Store) Points(ctx context.Context, c Series) ([]Point, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT `+runColumns+`, p.n, p.median, p.packed FROM runs AS r JOIN samples AS p ON p.run = r.seq
		WHERE p.series = (SELECT id FROM series WHERE package = $1 AND name = $2 AND unit = $3) ORDER BY r.commit_time, r.made, r.seq`, c.Package, c.Name, c.Unit)
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	defer rows.Close()
	var out []Point
	for rows.Next() {
		var p Point
		var packed []byte
		if p.Run, err = scanRun(rows.Scan, &p.N, &p.Median, &packed); err != nil {
			return nil, fmt.Errorf("history: %w", err)
		}
		values, err := unpack(packed)
		if err != nil {
			return nil, fmt.Errorf("history: run %s of %s: %w", p.Run.ID, c.Name, err)
		}
		p.Low, p.High = p.Median, p.Median
		for _, v := range values {
			p.Low, p.High = min(p.Low, v), max(p.High, v)
		}
		out = append(out, p)
	}
	return out, rows.Err()
}
