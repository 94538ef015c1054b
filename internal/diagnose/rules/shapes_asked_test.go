package rules_test

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	rowaskedtwice "github.com/hone-go/hone/internal/diagnose/rules/row-asked-twice"
)

const askedHead = `import (
	"context"
	"database/sql"
	"errors"
)

type user struct {
	ID    int64
	Email string
	Name  string
	Logins int
}

type store struct {
	db    *sql.DB
	realm string
}

func (s *store) Exists(ctx context.Context, email string) (bool, error) {
	var n int
	err := s.db.QueryRowContext(ctx, "SELECT count(*) FROM users WHERE email = ?", email).Scan(&n)
	return n > 0, err
}

func (s *store) Find(ctx context.Context, id int64) (*user, error) {
	u := &user{ID: id}
	err := s.db.QueryRowContext(ctx, "SELECT email, name, logins FROM users WHERE id = $1", id).Scan(&u.Email, &u.Name, &u.Logins)
	return u, err
}

func (s *store) ensure(id int64) error {
	var one int
	return s.db.QueryRow("SELECT 1 FROM users WHERE id = ?", id).Scan(&one)
}

func (s *store) Insert(ctx context.Context, u *user) error {
	_, err := s.db.ExecContext(ctx, "INSERT INTO users (email, name) VALUES (?, ?)", u.Email, u.Name)
	return err
}

func (s *store) Update(ctx context.Context, u *user) error {
	_, err := s.db.ExecContext(ctx, "UPDATE users SET email = ?, name = ? WHERE id = ?", u.Email, u.Name, u.ID)
	return err
}

func (s *store) Delete(id int64) error {
	_, err := s.db.Exec("DELETE FROM users WHERE id = ?", id)
	return err
}

func (s *store) Rename(ctx context.Context, id int64, name string) error {
	if _, err := s.db.ExecContext(ctx, "UPDATE users SET name = ? WHERE id = ?", name, id); err != nil {
		return err
	}
	_, err := s.db.ExecContext(ctx, "INSERT INTO events (user_id) VALUES (?)", id)
	return err
}

type users interface {
	Exists(ctx context.Context, email string) (bool, error)
	Find(ctx context.Context, id int64) (*user, error)
	Insert(ctx context.Context, u *user) error
	Update(ctx context.Context, u *user) error
}

var errTaken = errors.New("taken")

func check(u *user) error { return nil }`

// TestRowAskedTwiceShapes: what a function asks before and after it writes a row.
func TestRowAskedTwiceShapes(t *testing.T) {
	counted := func(p *rule.Pass) {
		p.Counts = ranTimes(3000, func(int) uint64 { return 1000 })
	}
	const insertAfter = "\tif err != nil || ok {\n\t\treturn errTaken\n\t}\n\treturn us.Insert(ctx, &user{Email: email})\n}"
	const increment = "\t_, err := s.db.Exec(\"UPDATE users SET logins = ? WHERE id = ?\", n+1, id)\n\treturn err\n}"
	const number = "func F(s *store, id int64) error {\n\tvar n int\n\tif err := s.db.QueryRow(\"SELECT logins FROM users WHERE id = ?\", id).Scan(&n); err != nil { @\n\t\treturn err\n\t}\n"
	for stack, shapes := range map[string][]shape{
		"database/sql.(*DB).QueryRowContext main.(*store).Exists": {
			{"func F(ctx context.Context, us users, email string) error {\n\tok, err := us.Exists(ctx, email) @\n" + insertAfter, "INSERT … ON CONFLICT"},
			{"func F(ctx context.Context, s *store, u *user) error {\n\tif ok, err := s.Exists(ctx, u.Email); err != nil || !ok { @\n\t\treturn s.Insert(ctx, u)\n\t}\n\treturn s.Update(ctx, u)\n}", "only whether a row of users exists"},
			{"func F(ctx context.Context, s *store, u *user, other string) error {\n\tok, err := s.Exists(ctx, other) @\n\tif err != nil || ok {\n\t\treturn errTaken\n\t}\n\treturn s.Insert(ctx, u)\n}", ""},
			{"func F(ctx context.Context, s *store, u *user) (bool, error) {\n\tok, err := s.Exists(ctx, u.Email) @\n\tif err != nil {\n\t\treturn false, err\n\t}\n\treturn ok, s.Insert(ctx, u)\n}", ""},
			{"func F(ctx context.Context, s *store, u *user) (bool, error) { return s.Exists(ctx, u.Email) } @", ""},
			{"func F(ctx context.Context, s *store, u *user, id int64) error {\n\tok, err := s.Exists(ctx, u.Email) @\n\tif err != nil || ok {\n\t\treturn errTaken\n\t}\n\treturn s.Rename(ctx, id, u.Email)\n}", ""},
		},
		"database/sql.(*DB).QueryRow main.(*store).ensure": {
			{"func F(s *store, id int64) error {\n\tif err := s.ensure(id); err != nil { @\n\t\treturn err\n\t}\n\treturn s.Delete(id)\n}", "RowsAffected"},
			{"func F(ctx context.Context, s *store, id int64) (*user, error) {\n\tif err := s.ensure(id); err != nil { @\n\t\treturn nil, err\n\t}\n\treturn s.Find(ctx, id)\n}", "Drop the first query"},
			{"func F(s *store, id, other int64) error {\n\tif err := s.ensure(id); err != nil { @\n\t\treturn err\n\t}\n\treturn s.Delete(other)\n}", ""},
			{"func F(s *store, ids []int64) error {\n\tfor _, id := range ids {\n\t\tif err := s.ensure(id); err != nil { @\n\t\t\treturn err\n\t\t}\n\t}\n\treturn s.Delete(ids[0])\n}", ""},
		},
		"database/sql.(*DB).QueryRowContext main.(*store).Find": {
			{"func F(ctx context.Context, us users, id int64, name string) (*user, error) {\n\tu, err := us.Find(ctx, id) @\n\tif err != nil {\n\t\treturn nil, err\n\t}\n\tu.Name = name\n\terr = us.Update(ctx, u)\n\treturn u, err\n}", "only to set fields"},
			{"func F(ctx context.Context, s *store, u *user) (*user, error) {\n\tif err := s.Update(ctx, u); err != nil {\n\t\treturn nil, err\n\t}\n\treturn s.Find(ctx, u.ID) @\n}", "reads it back"},
			{"func F(ctx context.Context, s *store, id int64, name string) error {\n\tu, err := s.Find(ctx, id) @\n\tif err != nil {\n\t\treturn err\n\t}\n\tif err := check(u); err != nil {\n\t\treturn err\n\t}\n\tu.Name = name\n\treturn s.Update(ctx, u)\n}", ""},
			{"func F(ctx context.Context, s *store, id int64, name string) error {\n\tu, err := s.Find(ctx, id) @\n\tif err != nil {\n\t\treturn err\n\t}\n\tif u.Name == name {\n\t\treturn nil\n\t}\n\tu.Name = name\n\treturn s.Update(ctx, u)\n}", ""},
			{"func F(ctx context.Context, s *store, id int64) (string, error) {\n\tu, err := s.Find(ctx, id) @\n\tif err != nil {\n\t\treturn \"\", err\n\t}\n\treturn u.Name, s.Delete(id)\n}", ""},
		},
		"database/sql.(*Row).Scan": {
			{number + increment, "SET n = n + ?"},
			{number + "\tif n >= 10 {\n\t\treturn errTaken\n\t}\n\tn++\n" + strings.Replace(increment, "n+1", "n", 1), "SET n = n + ?"},
			{number + strings.Replace(increment, "n+1", "7", 1), "only whether a row of users exists"},
			{number + "\tprintln(n)\n" + increment, ""},
			{strings.Replace(number, "WHERE id = ?", "WHERE id = ? FOR UPDATE", 1) + increment, ""},
			{strings.Replace(number, "WHERE id = ?", "WHERE id > ?", 1) + increment, ""},
		},
	} {
		checkShapesIn(t, rowaskedtwice.Rule(), askedHead, stack, 0, shapes, counted)
	}

	// A test that mostly ends the request saves the write.
	seldom := []shape{{"func F(ctx context.Context, us users, email string) error {\n\tok, err := us.Exists(ctx, email) @\n" + insertAfter, ""}}
	checkShapesIn(t, rowaskedtwice.Rule(), askedHead, "database/sql.(*DB).QueryRowContext main.(*store).Exists", 0, seldom, func(p *rule.Pass) {
		last := 0
		for _, s := range p.Table.Sites {
			last = s.Line + 4
		}
		p.Counts = ranTimes(3000, func(line int) uint64 {
			if line == last {
				return 0
			}
			return 1000
		})
	})
}
