package rule

import (
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/site"
)

// ReadsFiles reports whether a function reads the file system.
func ReadsFiles(fn *types.Func) bool {
	return fn.Pkg() != nil && (fn.Pkg().Path() == "os" || fn.Pkg().Path() == "io/fs" || fn.Pkg().Path() == "path/filepath") &&
		(strings.HasPrefix(fn.Name(), "Read") || fn.Name() == "Open" || fn.Name() == "Stat" || fn.Name() == "Glob")
}

// Asks reports whether a function is known to ask the world or to tell it something: its result is another each time, or it is called for
// what it does.
func Asks(fn *types.Func) bool {
	if fn.Pkg() == nil {
		return fn.Name() != "Error"
	}
	name := fn.Name()
	switch path := fn.Pkg().Path(); path {
	case "os":
		return !ReadsFiles(fn) && name != "Getenv" && name != "LookupEnv" && name != "Close"
	case "time":
		return name == "Now" || name == "Since" || name == "Until" || name == "Sleep" || name == "After" || name == "Tick" || strings.HasPrefix(name, "New")
	case "fmt":
		return strings.HasPrefix(name, "Print") || strings.HasPrefix(name, "Scan")
	case "math/rand", "math/rand/v2", "crypto/rand", "net", "net/http", "database/sql", "os/exec", "os/signal", "syscall", "log", "log/slog", "context", "sync",
		"sync/atomic", "runtime", "runtime/debug", "testing", "unique":
		return true
	}
	for _, word := range []string{"Rand", "Random", "Now", "Next", "Generate", "Query", "Exec", "Fetch", "Dial", "Send", "Recv", "Publish", "Wait", "Lock", "Unlock"} {
		if strings.HasPrefix(name, word) {
			return true
		}
	}
	return false
}

// Quiet reports whether the profile shows nothing below the lines of a call that asks the world: what the syntax of other packages would
// say, the samples do. at is the index in a row's stack of the frame that calls. file is true where one is read.
func Quiet(rows []*site.Row, at func(*site.Row) int) (fine, file bool) {
	for _, r := range rows {
		i := at(r)
		for j := range max(i, 0) {
			name := r.Stack[j].Function
			switch {
			case Named(name, "os.ReadFile", "os.Open", "os.OpenFile", "os.(*File).Read"):
				file = true
			case Named(name, "crypto/rand.*", "math/rand.*", "math/rand/v2.*", "crypto/internal/sysrand.*", "net.*", "net/http.*", "database/sql.*",
				"time.Now", "time.Sleep", "runtime.chansend*", "runtime.chanrecv*", "runtime.selectgo", "os/exec.*", "sync.(*Mutex).lockSlow"):
				return false, file
			}
		}
	}
	return true, file
}
