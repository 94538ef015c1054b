package sqlfullscan

import "testing"

const creates = `
CREATE TABLE cabin (id INTEGER PRIMARY KEY, name TEXT NOT NULL, beds INTEGER NOT NULL);
create table if not exists "booking" (
	id bigserial primary key, cabin INTEGER NOT NULL REFERENCES cabin(id), -- , no column
	[guest] TEXT DEFAULT 'no, one', start TEXT NOT NULL, code TEXT UNIQUE, /* , */ price DECIMAL(10, 2),
	CONSTRAINT slot UNIQUE (start, cabin), FOREIGN KEY (price) REFERENCES cabin(beds), CHECK (price > 0)
);
CREATE INDEX CONCURRENTLY booking_cabin ON public.booking USING btree (cabin, guest);
CREATE TABLE mail (id INTEGER, address TEXT, PRIMARY KEY (id));
CREATE INDEX mail_lower ON mail (lower(address));
ALTER TABLE cabin ADD COLUMN height INTEGER, ADD CONSTRAINT beds_key UNIQUE (beds);
`

// TestScanned: a query reads a whole table when none of its conditions can use an index.
func TestScanned(t *testing.T) {
	s := schema{}
	s.read(creates)
	for query, want := range map[string]string{
		"SELECT * FROM booking WHERE guest = ?":                                                                "booking.guest",
		"SELECT b.id FROM booking b JOIN cabin c ON c.id = b.cabin WHERE b.guest = ? ORDER BY b.start":         "booking.guest",
		"select id from booking as b inner join cabin on cabin.id = b.cabin where (b.guest = $1) and price>$2": "booking.guest",
		"UPDATE booking SET guest = ? WHERE price = :price":                                                    "booking.price",
		"DELETE FROM main.booking WHERE guest IN (?, ?) AND start LIKE ?;":                                     "booking.guest",
		"SELECT id FROM booking WHERE guest = 'a' AND id IS NOT NULL":                                          "booking.guest",
		"SELECT id FROM cabin WHERE height = 3 LIMIT 1":                                                        "cabin.height",
		"SELECT id FROM cabin, booking WHERE guest = ? FOR UPDATE":                                             "booking.guest",

		"SELECT * FROM booking WHERE id = ?":                                                  "", // a key
		"SELECT * FROM booking WHERE cabin = ? AND guest = ?":                                 "", // an index
		"SELECT * FROM booking WHERE start = ? AND guest = ?":                                 "", // a constraint
		"SELECT * FROM booking WHERE start BETWEEN ? AND ? AND guest = ?":                     "",
		"SELECT * FROM booking WHERE code = ?":                                                "", // a column that is unique
		"SELECT * FROM booking b JOIN cabin c ON c.id = b.cabin AND c.beds = 3 WHERE guest=?": "", // from the other table
		"SELECT * FROM mail WHERE address = ?":                                                "", // an index on an expression
		"SELECT * FROM person WHERE name = ?":                                                 "", // not created here
		"SELECT * FROM booking WHERE guest = ? OR id = ?":                                     "",
		"SELECT * FROM booking WHERE guest = (SELECT guest FROM booking WHERE id = ?)":        "",
		"SELECT * FROM booking WHERE guest LIKE ?":                                            "", // an index may not help
		"SELECT * FROM booking WHERE guest = start":                                           "",
		"SELECT * FROM booking":                                                               "",
		"SELECT * FROM %s WHERE guest = ?":                                                    "",
		"INSERT INTO booking(guest) VALUES (?)":                                               "",
		"":                                                                                    "", "(": "", "SELECT (": "", "select from where =": "", "select a from where ( ? in": "", "update": "",
	} {
		table, column, ok := s.scanned(query)
		if got := table + "." + column; ok != (want != "") || ok && got != want {
			t.Errorf("%s: %t %s, want %q", query, ok, got, want)
		}
	}
}

// TestSorted: a query sorts a whole table when no index has its order, and no condition can use
// one.
func TestSorted(t *testing.T) {
	s := schema{}
	s.read(creates)
	for query, want := range map[string]string{
		"SELECT id FROM booking ORDER BY CASE guest WHEN 'a' THEN 0 ELSE 1 END, id DESC LIMIT ? OFFSET ?": "booking: case guest when '…' then 0 …",
		"SELECT id FROM booking b WHERE b.guest = ? ORDER BY b.price DESC LIMIT 10":                       "booking: price",
		"SELECT id FROM cabin ORDER BY lower(name) LIMIT 10":                                              "cabin: lower ( name )",

		"SELECT id FROM booking ORDER BY cabin LIMIT 10":                         "", // an index
		"SELECT id FROM booking ORDER BY id DESC LIMIT 10":                       "",
		"SELECT id FROM booking WHERE cabin = ? ORDER BY price LIMIT 10":         "", // few rows
		"SELECT id FROM booking ORDER BY price":                                  "", // all of them
		"SELECT id FROM mail ORDER BY address LIMIT 1":                           "", // an index on an expression
		"SELECT guest AS g FROM booking ORDER BY g LIMIT 1":                      "",
		"SELECT count(*) FROM booking GROUP BY guest ORDER BY count(*) LIMIT 10": "",
		"SELECT id FROM person ORDER BY name LIMIT 10":                           "",
		"select order limit": "", "select order by limit": "", "select a from cabin order by limit 1": "",
	} {
		table, by, ok := s.sorted(query)
		if got := table + ": " + by; ok != (want != "") || ok && got != want {
			t.Errorf("%s: %t %s, want %q", query, ok, got, want)
		}
	}
}

func TestCounted(t *testing.T) {
	s := schema{}
	s.read(creates)
	for query, want := range map[string]string{
		"SELECT COUNT(*) FROM booking WHERE cabin = ?": "booking",
		"select count(guest) from booking":             "booking",

		"SELECT count(*) FROM booking GROUP BY guest":                   "", // many numbers
		"SELECT count(*) FROM unknown":                                  "",
		"SELECT id, count(*) FROM booking WHERE cabin = ?":              "",
		"SELECT count(*) FROM booking b JOIN cabin c ON c.id = b.cabin": "",
		"SELECT count(": "", "select count ( from from from": "",
	} {
		table, ok := s.counted(query)
		if ok != (want != "") || ok && table != want {
			t.Errorf("%s: %t %s, want %q", query, ok, table, want)
		}
	}
}

// FuzzScanned: no text makes the parser panic or hang.
func FuzzScanned(f *testing.F) {
	f.Add(creates, "SELECT b.id FROM booking b JOIN cabin c ON c.id = b.cabin WHERE b.guest = ?")
	f.Add("create table a(b", "select a from a where (")
	f.Add("create index on a (", "update a set b where a.b in ('")
	f.Add("alter table a add", "delete from x . y where \"")
	f.Fuzz(func(_ *testing.T, create, query string) {
		s := schema{}
		s.read(create)
		s.scanned(query)
		s.sorted(query)
		s.counted(query)
	})
}

// TestRandom: texts that sort whole rows at random, and those that sort keys or something else.
func TestRandom(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT * FROM booking ORDER BY RANDOM() LIMIT ?":                                                            "random()",
		"select b.id, c.name from booking b join cabin c on c.id = b.cabin where c.beds > 2 order by rand() limit 5": "rand()",
		"random()":                   "random()",
		"RAND() DESC":                "rand()",
		"ORDER BY gen_random_uuid()": "gen_random_uuid()",

		"SELECT id FROM booking ORDER BY random() LIMIT 5":                                             "", // keys
		"SELECT id, guest FROM booking WHERE id IN (SELECT id FROM booking ORDER BY random() LIMIT 5)": "",
		"SELECT id, guest FROM booking ORDER BY random()":                                              "", // all of them
		"SELECT id, guest FROM booking ORDER BY start, random() LIMIT 5":                               "",
		"SELECT id, random() FROM booking ORDER BY start LIMIT 5":                                      "",
		"random() < 0.5": "", "random": "", "random(": "", "": "", "a random() text": "", "order by name": "",
	} {
		if by, ok := sortsBy(text); ok != (want != "") || ok && by != want {
			t.Errorf("%s: %t %s, want %q", text, ok, by, want)
		}
	}
}
