package unchangedwrite

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/sqltext"
)

// statement is a SQL statement that sets columns of one row to given values: if it is executed
// again with the same arguments, it changes nothing.
type statement struct {
	table string
	keys  []int // indices of the arguments that identify the row
	next  int   // index of the argument of the next ?
}

// parse returns the statement of a text; nil if it does something else, or may.
func parse(text string) *statement {
	text = sqltext.Normal(text)
	if rest, ok := strings.CutPrefix(text, "update "); ok {
		table, rest, _ := strings.Cut(rest, " ")
		rest, ok = strings.CutPrefix(rest, "set ")
		sets, where, found := strings.Cut(rest, " where ")
		s := &statement{table: sqltext.Name(table)}
		if ok && found && s.assigns(sets) && s.selects(where) {
			return s
		}
		return nil
	}
	for _, start := range []string{"insert into ", "insert or replace into ", "replace into "} {
		if rest, ok := strings.CutPrefix(text, start); ok {
			return upsert(rest, start != "insert into ")
		}
	}
	return nil
}

// upsert is parse for a statement that inserts a row, or replaces it if it exists.
func upsert(rest string, replaces bool) *statement {
	table, rest, _ := strings.Cut(rest, "(")
	columns, rest, _ := strings.Cut(rest, ")")
	rest, ok := strings.CutPrefix(strings.TrimSpace(rest), "values")
	if !ok {
		return nil
	}
	rest, ok = strings.CutPrefix(strings.TrimSpace(rest), "(")
	values, rest, closed := strings.Cut(rest, ")")
	s := &statement{table: sqltext.Name(strings.TrimSpace(table))}
	names, given := strings.Split(columns, ","), strings.Split(values, ",")
	if !ok || !closed || len(names) != len(given) {
		return nil
	}
	rest = strings.TrimSpace(rest)
	key := ""
	switch {
	case replaces && rest == "":
	case strings.HasPrefix(rest, "on conflict"):
		_, rest, _ = strings.Cut(rest, "(")
		key, rest, _ = strings.Cut(rest, ")")
		sets, found := strings.CutPrefix(strings.TrimSpace(rest), "do update set ")
		if !found || !copies(sets, "excluded.") {
			return nil
		}
	case strings.HasPrefix(rest, "on duplicate key update "):
		if !copies(strings.TrimPrefix(rest, "on duplicate key update "), "values(") {
			return nil
		}
	default:
		return nil
	}
	keys := strings.Split(key, ",")
	for i, column := range names {
		at, ok := s.value(given[i], sqltext.Name(column))
		if !ok || living(column) {
			return nil
		}
		column = sqltext.Name(column)
		identifies := slices.ContainsFunc(keys, func(k string) bool { return sqltext.Name(k) == column })
		if at >= 0 && (identifies || key == "" && (column == "id" || column == "key" || column == "uuid")) {
			s.keys = append(s.keys, at)
		}
	}
	return s
}

// copies reports whether assignments of an upsert take the values that were to be inserted.
func copies(sets, from string) bool {
	for set := range strings.SplitSeq(sets, ",") {
		column, value, _ := strings.Cut(set, "=")
		value = strings.TrimSpace(value)
		if sqltext.Name(strings.TrimSuffix(strings.TrimPrefix(value, from), ")")) != sqltext.Name(column) && !(now(value) && changed(sqltext.Name(column))) {
			return false
		}
	}
	return true
}

// assigns reports whether the part after SET gives each column a value that does not depend on the
// row.
func (s *statement) assigns(sets string) bool {
	for set := range strings.SplitSeq(sets, ",") {
		column, value, ok := strings.Cut(set, "=")
		if _, given := s.value(value, sqltext.Name(column)); !ok || !given || living(column) {
			return false
		}
	}
	return true
}

// selects reports whether the part after WHERE compares columns with given values.
func (s *statement) selects(where string) bool {
	for test := range strings.SplitSeq(where, " and ") {
		column, value, ok := strings.Cut(test, "=")
		at, given := s.value(value, "")
		if !ok || !given || strings.ContainsAny(column, "<>!(") {
			return false
		}
		if at >= 0 {
			s.keys = append(s.keys, at)
		}
	}
	return true
}

// value reports whether a value is an argument, whose index it returns, or a constant (-1). The
// current time counts as one in a column that says when a row was changed.
func (s *statement) value(text, column string) (at int, ok bool) {
	text = strings.TrimSpace(text)
	if cast, _, found := strings.Cut(text, "::"); found {
		text = cast
	}
	if text == "?" {
		s.next++
		return s.next - 1, true
	}
	for _, sign := range []string{"$", "@p", "?"} {
		if digits, found := strings.CutPrefix(text, sign); found {
			n, err := strconv.Atoi(digits)
			return n - 1, err == nil && n > 0
		}
	}
	quoted := len(text) >= 2 && text[0] == '\'' && strings.Count(text, "'") == 2 && text[len(text)-1] == '\''
	_, err := strconv.ParseFloat(text, 64)
	return -1, quoted || err == nil || text == "true" || text == "false" || text == "null" || now(text) && changed(column)
}

func now(value string) bool {
	return slices.Contains([]string{"now()", "current_timestamp", "datetime('now')", "getdate()", "sysdate()"}, value)
}

// changed reports whether a column says when the row was changed.
func changed(column string) bool {
	return strings.HasPrefix(column, "updated") || strings.HasPrefix(column, "modified") || strings.HasPrefix(column, "changed")
}

// living reports whether the name of a column says that writing it again is the purpose: a sign of
// life, a lease.
func living(column string) bool {
	return slices.ContainsFunc([]string{"seen", "beat", "expire", "lease", "alive", "ping", "lock", "owner", "until"},
		func(word string) bool { return strings.Contains(column, word) })
}
