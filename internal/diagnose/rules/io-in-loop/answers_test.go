package ioinloop

import (
	"slices"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

const twoQueries = `package main

import "database/sql"

func names(db *sql.DB, id int) (all []string) {
	rows, err := db.Query("SELECT name FROM names WHERE id = ?", id) //@ query | database/sql.(*DB).Query
	if err != nil {
		return nil
	}
	defer rows.Close()
	for rows.Next() { //@ next | database/sql.(*Rows).Next
		var name string
		rows.Scan(&name) //@ scan | database/sql.(*Rows).Scan
		all = append(all, name) //@ list | runtime.growslice
	}
	others, err := db.Query("SELECT name FROM others WHERE id = ?", id) //@ other | database/sql.(*DB).Query
	if err != nil {
		return nil
	}
	defer others.Close()
	for others.Next() { //@ other's | database/sql.(*Rows).Next
	}
	return all
}

func first(db *sql.DB, id int) (name string) {
	db.QueryRow("SELECT name FROM names WHERE id = ?", id).Scan(&name) //@ row | database/sql.(*Row).Scan database/sql.(*DB).QueryRow
	return name
}

func main() {}
`

// A query costs what reading its answer costs too, but not what reading other answers does.
func TestAnswers(t *testing.T) {
	p, names := ruletest.MadeUp(t, twoQueries)
	k := kinds()[0]
	for _, m := range finder.Through(p, k.functions...) {
		withAnswers(p, &m, loop{}, k)
		var got []string
		for _, r := range m.CPU {
			got = append(got, names[r.Stack[r.Owner].Line])
		}
		slices.Sort(got)
		want := map[string][]string{"query": {"next", "query", "scan"}, "other": {"other", "other's"}, "row": {"row"}}[names[m.Site.Line]]
		if !slices.Equal(got, want) {
			t.Errorf("%s: CPU on lines %q, want %q", names[m.Site.Line], got, want)
		}
	}
}
