package sqltext

import (
	"slices"
	"strings"
)

// Writes reports whether a text may be a statement that writes to a table. A name that is composed
// when the program runs may be that of any table.
func Writes(text, table string) bool {
	composed := strings.HasSuffix(text, " ")
	text = Normal(text)
	verbs := []string{"update", "into", "delete from", "truncate", "truncate table", "drop table", "merge into"}
	for _, verb := range verbs {
		if composed && (text == verb || strings.HasSuffix(text, " "+verb)) {
			return true // the name follows
		}
		for rest, ok := cut(text, verb+" "); ok; rest, ok = cut(rest, verb+" ") {
			to, after, _ := strings.Cut(strings.Replace(strings.TrimPrefix(rest, "only "), "(", " ", 1), " ")
			if to = Name(to); to != table && !strings.HasPrefix(to, "%") {
				continue
			}
			if verb != "update" || strings.Contains(after, "set ") || strings.HasPrefix(text, verb) {
				return true // not a message about an update
			}
		}
	}
	return false
}

// cut returns what follows a word or words, where they start one.
func cut(text, words string) (after string, ok bool) {
	for {
		i := strings.Index(text, words)
		if i < 0 {
			return "", false
		}
		if i == 0 || !word(text[i-1]) {
			return text[i+len(words):], true
		}
		text = text[i+len(words):]
	}
}

// Name returns the name of a table or column without quotes and schema.
func Name(text string) string {
	text = strings.Trim(strings.TrimSpace(text), "`\"[];")
	return strings.Trim(text[strings.LastIndexByte(text, '.')+1:], "`\"[]")
}

// Normal returns a statement in lower case, with one space between words, without the comments
// before it.
func Normal(text string) string {
	text = strings.TrimSpace(text)
	for strings.HasPrefix(text, "--") {
		_, text, _ = strings.Cut(text, "\n")
		text = strings.TrimSpace(text)
	}
	return strings.TrimSuffix(strings.ToLower(strings.Join(strings.Fields(text), " ")), ";")
}

// Tables returns the tables that a SELECT reads. It is nil for other statements, for those that
// lock rows or have effects, and for those whose result changes though no table does.
func Tables(text string) (names []string) {
	ts := Tokens(text)
	if n := len(ts); n > 0 && ts[n-1] == ";" {
		ts = ts[:n-1]
	}
	if len(ts) < 4 || ts[0] != "select" {
		return nil
	}
	for i, t := range ts {
		if changes(t, append(ts, "")[i+1]) {
			return nil
		}
		if t != "from" && t != "join" {
			continue
		}
		for i++; i < len(ts); {
			if ts[i] == "(" {
				break // a query, which has a FROM of its own
			}
			name, rest := ts[i], ts[i+1:]
			for len(rest) > 1 && rest[0] == "." {
				if system(name) {
					return nil
				}
				name, rest = rest[1], rest[2:]
			}
			if !Named(name) || system(name) || len(rest) > 0 && rest[0] == "(" {
				return nil // of the database itself, or a function
			}
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
			comma := slices.Index(rest[:min(len(rest), 3)], ",") // after "AS alias"
			if comma < 0 || !alias(rest[:comma]) {
				break
			}
			i = len(ts) - len(rest) + comma + 1
		}
	}
	return names
}

// alias reports whether the tokens after the name of a table are its alias, or none.
func alias(ts []string) bool {
	return !slices.ContainsFunc(ts, func(t string) bool { return !Named(t) })
}

// changes reports whether a token makes a SELECT lock or write something, or gives it a result that
// does not depend on the tables alone. next is the token that follows.
func changes(token, next string) bool {
	if next == "(" && slices.Contains([]string{
		"nextval", "setval", "now", "sysdate", "getdate", "datetime", "date", "julianday", "strftime", "unix_timestamp", "clock_timestamp", "random", "rand",
		"newid", "uuid", "gen_random_uuid", "changes", "last_insert_rowid", "last_insert_id", "sleep", "load_extension", "get_lock",
	}, token) {
		return true
	}
	return slices.Contains([]string{
		";", "for", "into", "insert", "update", "delete", "with",
		"current_timestamp", "current_date", "current_time", "localtime", "localtimestamp",
	}, token) || strings.HasPrefix(token, "pg_")
}

// system reports whether a name is of tables in which a database keeps its own state.
func system(name string) bool {
	return name == "information_schema" || name == "performance_schema" || name == "sys" || name == "dual" || strings.HasPrefix(name, "pg_") || strings.HasPrefix(name, "sqlite_")
}
