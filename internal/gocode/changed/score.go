package changed

import "strings"

// score is how much an operation tells about a cost. It orders facts, and is never shown.
func (op *operation) score() float64 {
	s := 1.5
	switch op.kind {
	case KindCall, KindDefer:
		s = callScore(op.name, op.verb)
	case KindLoop:
		s = 2.5
	case KindGoroutine:
		s = 5
	case KindConcat:
		s = 4
	case KindChannel:
		s = 3.5
	case KindLock, KindCopy:
		s = 3
	case KindCondition:
		if op.cold {
			return 0.8
		}
		return choose(op.loops == 0, 2.4, 1.6)
	case KindStore:
		s = choose(op.verb == "appends to", 0.9, 2.5)
	case KindConvert, KindAllocate, KindLookup:
		s = 2
	}
	if s >= 1 {
		s += 1.5 * float64(min(op.loops, 2))
	}
	if op.cold {
		s *= 0.2
	}
	return s
}

// expensive are packages and functions whose calls often cost much: parsers, formatters,
// reflection, sorts, encoders, readers of everything, timers, compressors.
func expensive(name string) bool {
	for _, prefix := range []string{"regexp.", "reflect.", "json.", "xml.", "yaml.", "template.", "sort.", "gzip.", "flate.", "zlib.",
		"big.", "rsa.", "x509.", "bcrypt.", "ioutil.ReadAll", "io.ReadAll", "io.Copy", "fmt.S", "fmt.F", "fmt.Append", "strings.NewReplacer",
		"strings.Split", "strings.Fields", "strings.To", "strings.Replace", "strings.Join", "strings.Map", "strings.Repeat", "bytes.Split",
		"bytes.To", "time.After", "time.NewTimer", "time.NewTicker", "time.LoadLocation", "time.Sleep", "net.Parse", "net.Lookup", "url.Parse",
		"bufio.New", "slices.Sort", "slices.BinarySearch", "strconv.", "atomic.", "rand.", "filepath.Glob", "filepath.Walk", "runtime.Callers",
		"runtime.Stack", "os.Open", "os.ReadFile", "exec.", "http.New", "sql.Open", "gob.", "binary.Read", "binary.Write", "unsafe."} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	for _, word := range []string{"Compile", "Parse", "Marshal", "Unmarshal", "Encode", "Decode", "Clone", "Copy", "Format", "Sort", "Flush",
		"ReadAll", "Write", "Read", "Serve", "Next", "Handle", "Send", "RoundTrip", "Dial", "Sleep", "Broadcast", "Query", "Exec", "Prepare", "Split", "New"} {
		if strings.HasPrefix(last, word) && last != "NewError" {
			return true
		}
	}
	return last == "String" || last == "Wait" || last == "Load" || last == "Store" || last == "Do" || last == "Once" || strings.HasPrefix(last, "CompareAndSwap")
}

func callScore(name, verb string) float64 {
	switch {
	case strings.Contains(verb, "pool"), strings.HasSuffix(name, ".Grow"): // which makes room at once
		return 4
	case name == "errors.New" || name == "fmt.Errorf" || strings.HasPrefix(name, "log.") || strings.HasPrefix(name, "errors."):
		return 0.2
	case expensive(name):
		return 3
	case strings.HasPrefix(name, "strings.") || strings.HasPrefix(name, "bytes."):
		return 2
	}
	return 1
}

// holds adds to the score of variables and fields that keep values for later.
func holds(text string) float64 {
	text = strings.ToLower(text)
	for _, word := range []string{"cache", "pool", "sync.map", "map[", "regexp.", "once", "atomic", "memo", "replacer"} {
		if strings.Contains(text, word) {
			return 1
		}
	}
	return 0
}
