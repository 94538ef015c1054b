// Package ioinloop finds loops that send a query or request, or open a file, in each iteration.
package ioinloop

import (
	"cmp"
	"context"
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/diagnose/durable"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	// least is the minimum mean number of iterations with I/O each time that the loop is reached;
	// leastRequests is that for requests to other services, whose round trips are longer.
	least         = 5
	leastRequests = 3
	// leastEntries is how often a program that runs and exits must reach the loop. One that it
	// reaches once may be the program's main loop, with a unit of work in each iteration.
	leastEntries = 10
	// counted is the part of the iterations that the counts have: they end within requests.
	counted = 0.95
	// leastSynced is how often such a program must wait for the disk in a loop that it reaches
	// once.
	leastSynced = 100
)

// Rule is io-in-loop.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "io-in-loop",
		Kind:  rule.IO,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Query, commit, request or file in every iteration of a loop",
		Doc:   doc,
		Finder: finder.Groups{
			Claim: rule.Claim{
				// Of n round trips one remains. Decoding the results remains, about half of the
				// CPU. The saving leaves out the time that each round trip waits.
				Fraction: rule.Fraction{Expect: 0.6, Low: 0.2, High: 0.95},
				Sends:    true,
			},
			Rows: find,
		},
	}
}

const doc = `A loop that sends one query, one request or opens one file in each iteration
pays for each the round trip, the work of the driver or client and the system
calls: n + 1 queries where one would do. The loop is often not in the function
that sends the query but in a caller, where it is easy to miss.

Send one query for all: WHERE id = ANY($1) or IN (…), a join, a batch of the
driver, a bulk endpoint; then distribute the rows by key. If the query repeats,
cache the answer. If neither is possible, send the queries concurrently with a
limit (errgroup.SetLimit): that hides the waiting, but saves no CPU.

It is fine for a few queries, or where each answer decides the next query. The
rule reports only loops with at least five iterations (three, of requests to other
services), as counted in the recording. It leaves prepared statements alone that
write to a database within the process: there is no round trip to save. Of messages
on a stream (gRPC), it reports those that a loop takes from memory item by item;
so it does of transactions, unless they have several rows already.

Seen in the field: go-sql-driver/mysql#1161 (a query for each post: the page
took 10 s instead of 0.3 s); superplanehq/superplane#5462; FerretDB/FerretDB#3271
(a transaction for each document).`

// asked is one kind of I/O.
type asked struct {
	noun, fix string
	functions []string // as profiles name them
	// once says that it is enough to reach a loop once: waiting for the disk for each element is
	// never intended.
	once bool
	// small says that the rule only knows the items to be small if the loop takes them from memory
	// one by one.
	small bool
}

// Nouns of queries, of requests to other services, of statements that write to a database, and of
// writes to a store within the process that sync its file.
const (
	query     = "query"
	request   = "request"
	statement = "statement to the database"
	synced    = "write that waits for the disk"
)

// prepared are executions of prepared statements.
const prepared = "database/sql.(*Stmt).Exec*"

// embedded reports whether rows execute prepared statements within the process: there is no round
// trip, so one statement per row is the intended use of such a database.
func embedded(rows []*site.Row) bool {
	for _, r := range rows {
		in := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return funcname.Match(f.Function, prepared) })
		if in < 0 || slices.ContainsFunc(r.Stack[:in], func(f *site.Frame) bool { return funcname.Match(f.Function, "net.(*conn).*", "crypto/tls.(*Conn).*") }) {
			return false
		}
	}
	return true
}

// collects reports whether a row only adds a command to a pipeline, which sends all of them later.
func collects(r *site.Row) bool {
	return slices.ContainsFunc(r.Stack, func(f *site.Frame) bool {
		return funcname.Match(f.Function, "github.com/redis/go-redis*.(*Pipeline).Process", "github.com/go-redis/redis*.(*Pipeline).Process")
	})
}

// implements reports whether a row's line is part of what a call of the program does, and the rule
// knows the function that is called there: the program's line then stands for both.
func implements(s *site.Site, r *site.Row, k asked) bool {
	if s.Owner.Kind != gocode.Dependency {
		return false
	}
	at := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return *f == s.Frame })
	for i := at + 1; at >= 0 && i < len(r.Stack); i++ {
		if r.Stack[i].Owner.Kind == gocode.Main {
			return funcname.Match(r.Stack[i-1].Function, k.functions...)
		}
	}
	return false
}

// fewest is the minimum mean number of iterations.
func (k asked) fewest() float64 {
	if k.noun == request {
		return leastRequests
	}
	return least
}

// commits reports whether each one makes what was written before it durable.
func (k asked) commits() bool { return k.noun == transaction || k.noun == synced }

func kinds() []asked {
	return []asked{
		{query, "Fetch all rows with one query (WHERE … = ANY(…) or IN (…), a join, a batch of the driver) and look them up by their key.", []string{
			"database/sql.(*DB).Query*", "database/sql.(*Tx).Query*", "database/sql.(*Stmt).Query*", "database/sql.(*Conn).Query*",
			"github.com/jackc/pgx/v5.(*Conn).Query*", "github.com/jackc/pgx/v5/pgxpool.(*Pool).Query*",
			"github.com/jackc/pgx/v5/pgxpool.(*Tx).Query*", "github.com/jackc/pgx/v5.(*dbTx).Query*",
			"gorm.io/gorm.(*DB).First", "gorm.io/gorm.(*DB).Find", "gorm.io/gorm.(*DB).Take", "gorm.io/gorm.(*DB).Count", "gorm.io/gorm.(*DB).Scan", "gorm.io/gorm.(*DB).Pluck",
			"github.com/jackc/pgx/v4.(*Conn).Query*", "github.com/jackc/pgx/v4/pgxpool.(*Pool).Query*", "github.com/gocql/gocql.(*Query).Iter", "github.com/gocql/gocql.(*Query).Scan",
			"go.mongodb.org/mongo-driver/mongo.(*Collection).Find*", "go.mongodb.org/mongo-driver/v2/mongo.(*Collection).Find*",
			"go.mongodb.org/mongo-driver*/mongo.(*Collection).CountDocuments", "go.mongodb.org/mongo-driver*/mongo.(*Collection).Aggregate",
			"gorm.io/gorm.(*DB).Last", "gorm.io/gorm.(*DB).Row*",
		}, false, false},
		{statement, "Write the rows together, in one transaction: one INSERT with many rows, COPY, or a batch of the driver.", []string{
			"database/sql.(*DB).Exec*", "database/sql.(*Tx).Exec*", prepared, "database/sql.(*Conn).Exec*",
			"github.com/jackc/pgx/v5.(*Conn).Exec*", "github.com/jackc/pgx/v5/pgxpool.(*Pool).Exec*",
			"gorm.io/gorm.(*DB).Create", "gorm.io/gorm.(*DB).Save", "gorm.io/gorm.(*DB).Updates", "gorm.io/gorm.(*DB).Update", "gorm.io/gorm.(*DB).Delete",
			"github.com/jackc/pgx/v5/pgxpool.(*Tx).Exec*", "github.com/jackc/pgx/v5.(*dbTx).Exec*", "github.com/jackc/pgx/v4.(*Conn).Exec*", "github.com/jackc/pgx/v4/pgxpool.(*Pool).Exec*",
			"go.mongodb.org/mongo-driver/mongo.(*Collection).InsertOne", "go.mongodb.org/mongo-driver/mongo.(*Collection).UpdateOne", "go.mongodb.org/mongo-driver/mongo.(*Collection).ReplaceOne",
			"go.mongodb.org/mongo-driver/v2/mongo.(*Collection).InsertOne", "go.mongodb.org/mongo-driver/v2/mongo.(*Collection).UpdateOne", "go.mongodb.org/mongo-driver/v2/mongo.(*Collection).ReplaceOne",
			"github.com/gocql/gocql.(*Query).Exec",
		}, false, false},
		{"command to the store", "Send the commands together: MGET, a pipeline or a transaction of the client.", []string{
			"github.com/redis/go-redis/v9.cmdable.*", "github.com/go-redis/redis/v8.cmdable.*", "github.com/gomodule/redigo/redis.(*conn).Do",
			"github.com/gomodule/redigo/redis.(*activeConn).Do", "github.com/bradfitz/gomemcache/memcache.(*Client).Get",
		}, false, false},
		{request, "Where no answer decides the next request, send them in parallel (errgroup, with SetLimit): the loop then takes as long as the slowest. Or ask for all in one request if the other side has such an endpoint, or cache the answers.", []string{
			"net/http.(*Client).*", "net/http.Get", "net/http.Post", "net/http.Head", "net/http.PostForm",
			"github.com/elastic/*transport*.(*Client).Perform", "github.com/opensearch-project/opensearch-go*.(*Client).Perform",
			"google.golang.org/grpc.(*ClientConn).Invoke", "net/smtp.SendMail", "net/rpc.(*Client).Call", "github.com/nats-io/nats%2ego.(*Conn).Request*",
			"connectrpc.com/connect.(*Client[...]).CallUnary", "github.com/valyala/fasthttp.(*Client).Do*", "github.com/valyala/fasthttp.(*HostClient).Do*",
		}, false, false},
		{"message to a broker", "Send the messages together: these clients take a list, or collect messages and send them in the background.", []string{
			"github.com/segmentio/kafka-go.(*Writer).WriteMessages", "github.com/IBM/sarama.(*syncProducer).SendMessage", "github.com/Shopify/sarama.(*syncProducer).SendMessage",
			"github.com/twmb/franz-go/pkg/kgo.(*Client).ProduceSync", "github.com/rabbitmq/amqp091-go.(*DeferredConfirmation).Wait*",
		}, false, false},
		{"name lookup", "Cache the addresses for a while instead of resolving the name each time.", []string{"net.(*Resolver).Lookup*", "net.Lookup*"}, false, false},
		{"file access", "Where the same files come again, read them once and cache what is needed, with their modification times; or list the directory once (os.ReadDir). Of files with new content each time, write fewer and larger ones.", []string{
			"os.Open", "os.OpenFile", "os.ReadFile", "os.ReadDir", "io/ioutil.ReadFile", "io/ioutil.ReadDir", "io/fs.ReadFile", "io/fs.ReadDir", "io/fs.Stat", "os.Stat", "os.Lstat", "os.Create", "os.WriteFile", "io/ioutil.WriteFile", "path/filepath.EvalSymlinks",
			"os.Readlink", "syscall.Getxattr", "golang.org/x/sys/unix.Getxattr", "golang.org/x/sys/unix.Lgetxattr",
		}, false, false},
		{"start of a process", "Start one process for all, or do the work in this one.", []string{"os/exec.(*Cmd).Run", "os/exec.(*Cmd).Output", "os/exec.(*Cmd).CombinedOutput", "os/exec.(*Cmd).Start"}, false, false},
		{"commit to disk (fsync)", "Put writes that belong together into one transaction or one batch, and commit (fsync) once.", []string{
			"syscall.Fdatasync", "syscall.Fsync", "golang.org/x/sys/unix.Fdatasync", "golang.org/x/sys/unix.Fsync", "os.(*File).Sync", "internal/poll.(*FD).Fsync",
		}, true, false},
		{"message on a stream", "Put many rows into one message: a repeated field, or a block of a few kilobytes. Each message costs framing, flow control and wake-ups on both sides, however small it is.", []string{
			"google.golang.org/grpc.(*serverStream).SendMsg", "google.golang.org/grpc.(*clientStream).SendMsg", "connectrpc.com/connect.(*ServerStream[...]).Send", "connectrpc.com/connect.(*BidiStream[...]).Send",
			"storj.io/drpc/drpcstream.(*Stream).MsgSend",
		}, false, true},
		{transaction, "Put the rows into one transaction and commit once: pass all of them to the function that has it. If one bad row must not lose the others, try all together first, and one by one only if that fails, or set a savepoint for each.", commits(), true, false},
		{synced, "Collect the entries in one batch of the store, and write that once, with one sync.", durable.Writes(), true, false},
	}
}

// Knows reports whether the rule has a function, as profiles name it.
func Knows(function string) bool {
	return slices.ContainsFunc(kinds(), func(k asked) bool { return funcname.Match(function, k.functions...) })
}

func find(ctx context.Context, p *rule.Pass) ([]rule.Match, error) {
	if p.Syntax == nil {
		return nil, nil
	}
	var matches []rule.Match
	for _, k := range kinds() {
		for _, m := range finder.Through(p, k.functions...) {
			m.CPU = stacks.Select(m.CPU, stacks.Steady)
			m.CPU = stacks.Select(m.CPU, func(r *site.Row) bool { return !implements(m.Site, r, k) })
			if m.Empty() || slices.ContainsFunc(m.CPU, collects) || k.noun == statement && embedded(m.CPU) || k.noun == synced && unsynced(p, &m) {
				continue
			}
			l, ok := around(p, &m, k)
			if !ok {
				continue
			}
			if l.from != nil && m.Site.Owner.Kind == gocode.Dependency && l.from.Owner.Kind == gocode.Main {
				matches = append(matches, outside(ctx, p, l, k)...)
				continue
			}
			l.describe(&m, k)
			if k.commits() {
				committing(p, &m)
			} else {
				withAnswers(p, &m, l, k)
				latency(p, &m)
			}
			matches = append(matches, m)
		}
	}
	return matches, nil
}

// leastWaited is the minimum share of the requests' time that they wait at a line for that wait to
// matter more than the CPU of its calls.
const leastWaited = 0.1

// latency prices a line by the time that requests wait at it, if the trace shows that they wait
// there long: a loop that waits for other services costs little CPU. Where the calls take the CPU
// that other requests wait for, as those of a database in the process do, their CPU is the price.
func latency(p *rule.Pass, m *rule.Match) {
	t := traced.QueueAt(p, m.Site, leastWaited)
	if t == nil || t.LacksCPU() && m.Fraction.Expect*ofCPU(p, m) > t.Saving().Seconds/t.Total {
		return
	}
	price(p, m, t, "Requests wait there for %s of their time.")
}

// ofCPU returns the share of the profile's CPU that the rows of a match take.
func ofCPU(p *rule.Pass, m *rule.Match) float64 {
	nanoseconds, _ := stacks.Sum(m.CPU)
	if p.Table.Totals.TotalSeconds <= 0 {
		return 0
	}
	return float64(nanoseconds) / 1e9 / p.Table.Totals.TotalSeconds
}

// price gives a match the saving of a wait, and says how long that is.
func price(p *rule.Pass, m *rule.Match, t *traced.Queue, says string) {
	m.CPU, m.Allocs, m.Fraction = nil, nil, nil
	m.Saving = t.Saving()
	m.Cause += " " + fmt.Sprintf(says, t.Share())
	m.Evidence = append(m.Evidence, t.Evidence(p, "the answers", "woken at")...)
}

// outside returns the findings about a dependency's line with I/O, at the line of the program whose
// loop calls it.
func outside(ctx context.Context, p *rule.Pass, l loop, k asked) []rule.Match {
	from := *l.from
	l.function = ""
	at := func(r *site.Row) int {
		if !slices.ContainsFunc(r.Stack, func(f *site.Frame) bool { return funcname.Match(f.Function, k.functions...) }) {
			return -1
		}
		return slices.IndexFunc(r.Stack, func(f *site.Frame) bool {
			return f.Function == from.Function && f.File == from.File && f.Line == from.Line
		})
	}
	found, _ := finder.Line{Start: finder.Frames(at), Judge: func(c *finder.Case) bool {
		l.describe(c.Match, k)
		return true
	}}.Find(ctx, p)
	return found
}

// loop is a loop with I/O in its iterations.
type loop struct {
	counts.Loop
	line     int
	function string // function around the loop; "" for that of the line with I/O
	asks     float64
	from     *site.Frame // the line in the loop that calls the line with I/O; nil for that line itself
}

// mostRows is how many rows of a line are examined, the most expensive first.
const mostRows = 64

// around returns the innermost loop that makes a line run often: in its function, or in one of its
// callers. If only some of the callers have one, the match keeps the rows of the first.
func around(p *rule.Pass, m *rule.Match, k asked) (loop, bool) {
	asks, ok := evidence.Executions(p, m.Site.Frame)
	if !ok || asks.PerUnit <= 0 {
		return loop{}, false
	}
	rows := slices.SortedStableFunc(slices.Values(m.CPU), func(a, b *site.Row) int { return cmp.Compare(b.Value, a.Value) })
	for i, row := range rows[:min(len(rows), mostRows)] {
		l, ok := above(p, m, row, k, asks.PerUnit)
		if !ok {
			continue
		}
		if i > 0 && l.from != nil {
			m.CPU = stacks.Select(m.CPU, func(r *site.Row) bool {
				return slices.ContainsFunc(r.Stack, func(f *site.Frame) bool { return *f == *l.from })
			})
		}
		return l, true
	}
	return loop{}, false
}

// above is around for one row; the line with I/O runs asks times for each unit of work.
func above(p *rule.Pass, m *rule.Match, row *site.Row, k asked, asks float64) (loop, bool) {
	reached := false
	for _, f := range row.Stack {
		own := f.Function == m.Site.Function && f.File == m.Site.File && f.Line == m.Site.Line
		reached = reached || own
		if !reached || f.Owner.Kind != gocode.Main && f.Owner.Kind != gocode.Dependency {
			continue
		}
		place, ok := p.Syntax.At(f.File, f.Line)
		if !ok {
			continue
		}
		stmt := place.Loop()
		if k.noun == request {
			stmt = loops.Of(place, f.Function) // goroutines send them at the same time
		}
		if stmt == nil || retries(place, stmt) || slices.ContainsFunc(syntax.Calls(place), func(c *ast.CallExpr) bool { return loops.TriesAgain(place, stmt, c) }) {
			continue
		}
		if k.small && !fromMemory(place, stmt) || k.commits() && !perRow(p, place, stmt, asks) {
			return loop{}, false
		}
		line := syntax.Line(place, stmt.Pos())
		l, ok := p.Counts.Loop(f.Owner.Package, f.File, line)
		if !ok || l.Iterations < counted*k.fewest() || p.Manifest.Unit() == "run" && l.Entries < leastEntries && !(k.once && l.Iterations >= leastSynced) {
			continue
		}
		here, ok := evidence.Executions(p, *f)
		if !ok || min(here.PerUnit, asks) < counted*k.fewest()*l.Entries {
			continue // only few of the iterations have I/O, such as one of a list of callbacks
		}
		found := loop{Loop: l, line: line, asks: asks}
		if !own {
			found.function, found.from = f.Function, f
		}
		return found, true
	}
	return loop{}, false
}

// retries reports whether a loop without a list retries, or waits for the next event.
func retries(p *gocode.Place, stmt ast.Stmt) bool {
	f, ok := stmt.(*ast.ForStmt)
	return ok && f.Cond == nil && f.Post == nil && !p.Drives(stmt)
}

// fromMemory reports whether a loop sends what is there already, item by item: it neither waits for
// the next one nor cuts it off a longer text.
func fromMemory(p *gocode.Place, stmt ast.Stmt) bool {
	cuts := false
	ast.Inspect(stmt, func(n ast.Node) bool {
		if s, ok := n.(*ast.SliceExpr); ok {
			cuts = cuts || s.High != nil && syntax.StringOrBytes(p.TypeOf(s.X)) || s.Low != nil && s.High != nil
		}
		return !cuts
	})
	return !cuts && !loops.Waits(p, stmt)
}

func (l loop) describe(m *rule.Match, k asked) {
	in := ""
	if l.function != "" {
		in = " in " + l.function[strings.LastIndexByte(l.function, '/')+1:]
	}
	verb := "makes"
	if strings.HasPrefix(k.noun, "message") {
		verb = "sends"
	}
	m.Cause = fmt.Sprintf("The loop on line %d%s %s one %s in each iteration, %s each time it is reached.", l.line, in, verb, k.noun, units.Number(l.Iterations))
	hooked := l.from != nil && l.from.Owner.Kind == gocode.Dependency && m.Site.Owner.Kind == gocode.Main
	if hooked {
		m.Cause = fmt.Sprintf("%s calls %s for each element (line %d of %s), which %s one %s, %s each time.",
			l.from.Owner.Module, symbol.Short(m.Site.Function), l.line, strings.TrimPrefix(in, " in "), verb, k.noun, units.Number(l.Iterations))
	}
	if k.noun == synced {
		m.Cause += " Each of them takes as long as all entries together would."
	}
	if k.noun == transaction {
		m.Cause += " At each commit, a database that keeps what it confirms waits for a sync of its disk, so that each row takes as long as all of them together would."
	}
	if k.noun == request {
		m.Cause += " They run one after the other: each waits for the answer to the previous one."
	}
	m.Fix = k.fix
	if k.noun == query && hooked {
		m.Fix = "Read what all of them need with one query, where they are loaded (a preload of the ORM, a join, or WHERE … IN (…)), and leave it out of the function that is called for each."
	}
	m.Confidence = rule.Measured
	if k.small || k.commits() {
		m.Confidence = rule.Likely // each item may be needed as soon as possible, or be lost alone
	}
	m.Fraction = &rule.Fraction{Expect: 0.6, Low: 0.2, High: 1 - 1/l.Iterations}
	m.Evidence = append(m.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s iterations each time the loop is reached", units.Number(l.Iterations)),
	})
}
