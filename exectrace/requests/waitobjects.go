package requests

import (
	"strings"

	"github.com/hone-go/hone/exectrace"
)

// Resources that a program bounds, and that a request waits for.
const (
	DatabaseConnection = "a database connection" // of database/sql, when all that may be open are in use
	PgxConnection      = "a connection of pgxpool"
	RedisConnection    = "a connection to Redis"
	MongoConnection    = "a connection to MongoDB"
	HTTPConnection     = "a connection to another server" // of a net/http client: a new one, or one that another request has
	Semaphore          = "a semaphore"                    // of golang.org/x/sync
	Subprocess         = "a subprocess"                   // of os/exec
	Errgroup           = "room in an errgroup"
	RateLimiter        = "a rate limiter" // of golang.org/x/time and others
)

// connects waits for a connection in a select of its own. It also locks the DB and opens
// connections.
const connects = "database/sql.(*DB).conn"

// objects says what functions of the standard library and of common modules wait for, in words that
// follow "for".
var objects = map[string]string{
	"sync.(*Mutex).Lock":                      "a sync.Mutex",
	"sync.(*RWMutex).Lock":                    "a sync.RWMutex (to write)",
	"sync.(*RWMutex).RLock":                   "a sync.RWMutex (to read)",
	"sync.(*WaitGroup).Wait":                  "a sync.WaitGroup",
	"sync.(*Cond).Wait":                       "a sync.Cond",
	"sync.(*Once).Do":                         "a sync.Once",
	"sync.(*Map).LoadOrStore":                 "a sync.Map",
	"sync.(*Map).Store":                       "a sync.Map",
	"time.Sleep":                              "the end of a sleep",
	connects:                                  DatabaseConnection,
	"net/http.(*persistConn).roundTrip":       "the response of another server",
	"net/http.(*Transport).getConn":           HTTPConnection,
	"net/http.(*http2ClientConn).roundTrip":   "the response of another server",
	"net.(*Resolver).lookupIPAddr":            "a name lookup",
	"os/exec.(*Cmd).Wait":                     Subprocess,
	"io.(*pipe).read":                         "an io.Pipe (to read)",
	"io.(*pipe).write":                        "an io.Pipe (to write)",
	"net/http.(*bodyEOFSignal).Read":          "the response of another server", // its body
	"net/http.(*body).Read":                   "the body of the request",
	"net/http.(*connReader).abortPendingRead": "the read of its connection to stop",
	"net/http.(*response).finishRequest":      "the client to take the response",
	"net/http.(*response).Write":              "the client to take the response",
	"net/http.(*timeoutHandler).ServeHTTP":    "a handler under http.TimeoutHandler",

	"golang.org/x/sync/semaphore.(*Weighted).Acquire":                  Semaphore,
	"golang.org/x/sync/singleflight.(*Group).Do":                       "another call that does the same (singleflight)",
	"golang.org/x/sync/errgroup.(*Group).Wait":                         "an errgroup",
	"golang.org/x/sync/errgroup.(*Group).Go":                           Errgroup,
	"golang.org/x/time/rate.(*Limiter).wait":                           RateLimiter,
	"k8s.io/client-go/util/flowcontrol.(*tokenBucketRateLimiter).Wait": RateLimiter,
	"go.uber.org/ratelimit.(*atomicInt64Limiter).Take":                 RateLimiter,
	"github.com/juju/ratelimit.(*Bucket).Wait":                         RateLimiter,

	"github.com/jackc/pgx/v5/pgxpool.(*Pool).Acquire":                         PgxConnection,
	"github.com/jackc/pgx/v4/pgxpool.(*Pool).Acquire":                         PgxConnection,
	"github.com/redis/go-redis/v9/internal/pool.(*ConnPool).waitTurn":         RedisConnection,
	"github.com/go-redis/redis/v8/internal/pool.(*ConnPool).waitTurn":         RedisConnection,
	"github.com/gomodule/redigo/redis.(*Pool).waitVacantConn":                 RedisConnection,
	"go.mongodb.org/mongo-driver/x/mongo/driver/topology.(*pool).checkOut":    MongoConnection,
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology.(*pool).checkOut": MongoConnection,
}

// objectOfPart is what a part waits for when the stack does not say more.
var objectOfPart = map[Part]string{
	WaitNetwork:     "the network",
	WaitSelect:      "a select",
	WaitChanSend:    "a receiver on a channel",
	WaitChanReceive: "a sender on a channel",
	WaitSync:        "a lock",
	WaitCond:        "a sync.Cond",
	WaitSleep:       "the end of a sleep",
	WaitAssist:      "the collector to mark for it",
	WaitGC:          "the collector",
}

// Named reports whether Object says more than the part does, because the stack has a function that
// is known for what it waits for.
func (p *Place) Named() bool { return p.Object != objectOfPart[p.Part] }

// object says what a goroutine that left the processor at a stack waits for. It is the word for the
// outermost function that has one, among the functions of the standard library and of dependencies
// below the program's first line. The garbage collector can stop a goroutine in any function. It is
// empty if the goroutine does not wait.
func (f *Fold) object(s exectrace.StackID, p Part) string {
	if !p.waiting() {
		return ""
	}
	found := objectOfPart[p]
	if p == WaitAssist || p == WaitGC {
		return found
	}
	inModule := false
	selects := true // the function above waits itself, not in one that it calls
	for _, frame := range f.src.Frames(s) {
		if frame.Standard() && inModule { // which calls the module
			break
		}
		if word, ok := objects[frame.Func]; ok && (frame.Func != connects || selects) {
			found = word
		}
		selects = strings.HasPrefix(frame.Func, "runtime.")
		if !frame.Standard() {
			if inModule = frame.At().Downloaded(); !inModule {
				break
			}
		}
	}
	return found
}
