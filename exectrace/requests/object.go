package requests

import "github.com/hone-go/hone/exectrace"

// objects are what functions of the standard library wait for, in words that follow "for".
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
	"database/sql.(*DB).conn":                 "a database connection",
	"net/http.(*persistConn).roundTrip":       "the response of another server",
	"net/http.(*Transport).getConn":           "a connection to another server",
	"net/http.(*http2ClientConn).roundTrip":   "the response of another server",
	"net.(*Resolver).lookupIPAddr":            "a name lookup",
	"os/exec.(*Cmd).Wait":                     "a subprocess",
	"io.(*pipe).read":                         "an io.Pipe (to read)",
	"io.(*pipe).write":                        "an io.Pipe (to write)",
	"net/http.(*body).Read":                   "the body of the request",
	"net/http.(*connReader).abortPendingRead": "the read of its connection to stop",
	"net/http.(*response).finishRequest":      "the client to take the response",
	"net/http.(*response).Write":              "the client to take the response",
	"net/http.(*timeoutHandler).ServeHTTP":    "a handler under http.TimeoutHandler",
}

// objectOfPart is what a part waits for when the stack does not tell better.
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

// object says what a goroutine that left the processor at a stack waits for: the outermost
// function of the standard library that has a word for it, below the first line of anybody
// else. The collector can stop it in any function. Empty when it does not wait.
func (f *Fold) object(s exectrace.StackID, p Part) string {
	if !p.waiting() {
		return ""
	}
	found := objectOfPart[p]
	if p == WaitAssist || p == WaitGC {
		return found
	}
	for _, frame := range f.src.Frames(s) {
		if word, ok := objects[frame.Func]; ok {
			found = word
		}
		if !frame.Standard() {
			break
		}
	}
	return found
}
