package sqlfullscan

import (
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/sqltext"
)

// condition compares a column with values that do not come from a table.
type condition struct {
	table, column, op string
}

// scanned returns the table that a query reads from its start to its end, and the column in its
// condition; ok is false if the query may use an index, or if the text or the schema is not
// sufficient.
func (s schema) scanned(sql string) (name, column string, ok bool) {
	ts := sqltext.Tokens(sql)
	if end := slices.Index(ts, ";"); end >= 0 && end < len(ts)-1 {
		return "", "", false // several statements
	}
	for _, t := range ts {
		if slices.Contains([]string{"or", "union", "intersect", "except", "with", "exists", "match", "%"}, t) {
			return "", "", false
		}
	}
	if len(ts) < 4 || !slices.Contains([]string{"select", "update", "delete"}, ts[0]) || slices.Contains(ts[1:], "select") {
		return "", "", false
	}
	where := slices.Index(ts, "where")
	if where < 0 {
		return "", "", false
	}
	names, on := tablesOf(ts[:where])
	for _, t := range names {
		if known := s[t]; known == nil || known.unknown || len(known.columns) == 0 {
			return "", "", false
		}
	}
	for _, c := range s.conditions(append(on, conjuncts(ts[where+1:])...), names) {
		t := s[c.table]
		switch {
		case c.op == "like":
		case t.leading[c.column] || c.column == "rowid":
			return "", "", false
		case !ok && (c.op == "=" || c.op == "==" || c.op == "in"):
			name, column, ok = c.table, c.column, true
		}
	}
	return name, column, ok
}

// sorted returns the table of which a query sorts all rows for the few that it returns, and what it
// sorts by first; ok is false if an index may have that order, or if the text or the schema is not
// sufficient.
func (s schema) sorted(sql string) (name, by string, ok bool) {
	ts := sqltext.Tokens(sql)
	order, limit := slices.Index(ts, "order"), slices.Index(ts, "limit")
	if len(ts) == 0 || ts[0] != "select" || order < 0 || limit < order || slices.Contains(ts[1:], "select") {
		return "", "", false
	}
	for _, t := range ts {
		if slices.Contains([]string{"union", "with", "join", "group", "distinct", "match", "%", ";"}, t) {
			return "", "", false
		}
	}
	end := order
	var conditions [][]string
	if where := slices.Index(ts, "where"); where >= 0 {
		end = where
		conditions = conjuncts(ts[where+1:])
	}
	names, _ := tablesOf(ts[:end])
	if len(names) != 1 {
		return "", "", false
	}
	for _, name = range names {
	}
	t := s[name]
	if t == nil || t.unknown || len(t.columns) == 0 || slices.Contains(ts, "or") {
		return "", "", false
	}
	for _, c := range s.conditions(conditions, names) {
		if t.leading[c.column] || c.column == "rowid" {
			return "", "", false // it may select few rows
		}
	}
	term := sqltext.Split(ts[order+2:limit], ",")[0]
	if n := len(term); n > 0 && (term[n-1] == "desc" || term[n-1] == "asc") {
		term = term[:n-1]
	}
	if len(term) == 3 && term[1] == "." {
		term = term[2:]
	}
	if len(term) == 1 && (t.leading[term[0]] || !t.columns[term[0]]) {
		return "", "", false
	}
	if len(term) == 0 || order+2 >= limit {
		return "", "", false
	}
	by = strings.ReplaceAll(strings.Join(term[:min(len(term), 6)], " "), "'", "'…'")
	if len(term) > 6 {
		by += " …"
	}
	return name, by, true
}

// counted returns the table whose rows a query counts, all of them or those of a condition; ok is
// false for other queries, and when the schema does not say.
func (s schema) counted(sql string) (name string, ok bool) {
	ts := sqltext.Tokens(sql)
	if len(ts) < 6 || ts[0] != "select" || ts[1] != "count" || ts[2] != "(" || slices.Contains(ts[1:], "select") {
		return "", false
	}
	for _, t := range ts {
		if slices.Contains([]string{"union", "join", "group", "match", "%", ";", "limit"}, t) {
			return "", false
		}
	}
	end := slices.Index(ts, "where")
	if end < 0 {
		end = len(ts)
	}
	names, _ := tablesOf(ts[:end])
	for _, name = range names {
	}
	t := s[name]
	return name, len(names) == 1 && t != nil && !t.unknown && len(t.columns) > 0
}

// tablesOf returns the tables that a statement reads, by their names in the statement, and the
// conditions of its joins.
func tablesOf(ts []string) (names map[string]string, on [][]string) {
	names = map[string]string{}
	at := slices.Index(ts, "from")
	if ts[0] == "update" {
		at = 0
	}
	if at < 0 {
		return names, nil
	}
	for i := at; i < len(ts); i++ {
		switch ts[i] {
		case "from", "join", ",", "update":
			name, rest := nameOf(ts[i+1:])
			alias := name
			if len(rest) > 1 && rest[0] == "as" {
				rest = rest[1:]
			}
			if len(rest) > 0 && sqltext.Named(rest[0]) && !slices.Contains([]string{"on", "join", "inner", "left", "right", "full", "outer", "cross", "natural", "using", "set", "indexed", "use", "force"}, rest[0]) {
				alias = rest[0]
			}
			names[alias] = name
		case "set":
			return names, on
		case "on":
			end := i + 1
			for end < len(ts) && !slices.Contains([]string{"join", "inner", "left", "right", "full", "cross", "natural"}, ts[end]) {
				end++
			}
			on = append(on, conjuncts(ts[i+1:end])...)
			i = end - 1
		}
	}
	return names, on
}

// conjuncts splits a condition at the ANDs outside of parentheses, up to the clause that follows
// it.
func conjuncts(ts []string) [][]string {
	for i := 0; i < len(ts); i++ {
		if ts[i] == "(" {
			i = sqltext.Closing(ts, i)
			continue
		}
		if slices.Contains([]string{"group", "order", "limit", "having", "returning", "for", "offset", "window", ";"}, ts[i]) {
			ts = ts[:i]
			break
		}
	}
	var out [][]string
	for _, part := range sqltext.Split(ts, "and") {
		if n := len(out); n > 0 && slices.Contains(out[n-1], "between") && len(part) == 1 {
			continue // the upper bound
		}
		out = append(out, part)
	}
	return out
}

// conditions returns the comparisons of columns of the tables with parameters and literals.
func (s schema) conditions(parts [][]string, names map[string]string) (out []condition) {
	for _, part := range parts {
		for len(part) > 2 && part[0] == "(" && sqltext.Closing(part, 0) == len(part)-1 {
			part = part[1 : len(part)-1]
		}
		var c condition
		switch {
		case len(part) > 4 && part[1] == "." && sqltext.Named(part[0]) && sqltext.Named(part[2]):
			c.table, c.column = names[part[0]], part[2]
			part = part[3:]
		case len(part) > 2 && sqltext.Named(part[0]):
			c.column = part[0]
			c.table = s.owner(c.column, names)
			part = part[1:]
		default:
			continue
		}
		if s[c.table] == nil || !slices.Contains([]string{"=", "==", "<", ">", "<=", ">=", "in", "between", "is", "like"}, part[0]) || part[0] == "is" && len(part) > 1 && part[1] == "not" {
			continue
		}
		c.op = part[0]
		if !slices.ContainsFunc(part[1:], func(t string) bool { return sqltext.Named(t) && t != "null" && t != "true" && t != "false" }) {
			out = append(out, c)
		}
	}
	return out
}

// owner returns the only one of the tables that has a column; "" when none or several have it.
func (s schema) owner(column string, names map[string]string) (owner string) {
	for _, name := range names {
		if !s[name].columns[column] && column != "rowid" {
			continue
		}
		if owner != "" && owner != name {
			return ""
		}
		owner = name
	}
	return owner
}
