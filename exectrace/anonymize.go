package exectrace

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"path"
	"strings"

	"github.com/hone-go/hone/exectrace/internal/wire"
	"github.com/hone-go/hone/profile/symbol"
)

// Anonymize copies a trace and replaces the user's names: of functions, files, tasks and regions,
// and the messages of logs. It keeps what is the same in every Go program: names of the standard
// library and the runtime, reasons, times, line numbers, IDs. The copy can be shown to others, and
// every analysis gives the same results for it.
//
// A name keeps its length and its punctuation; equal names stay equal. Each call creates a new key,
// so that names cannot be found by trial. Lengths, times and line numbers still reveal something to
// a reader who has the source.
func Anonymize(ctx context.Context, w io.Writer, r io.Reader, opt Options) (Written, error) {
	key := make([]byte, 32)
	rand.Read(key)
	a := &anonymizer{key: key, words: map[string]string{}}
	return (&rewriter{change: a.generation}).rewrite(ctx, w, r, opt)
}

// anonymizer replaces words.
type anonymizer struct {
	key   []byte
	words map[string]string
}

// Pseudonyms replaces names as Anonymize does, in other files about the same program. It is not
// safe for concurrent use.
type Pseudonyms struct{ a anonymizer }

// NewPseudonyms returns Pseudonyms with a new random key.
func NewPseudonyms() *Pseudonyms {
	key := make([]byte, 32)
	rand.Read(key)
	return &Pseudonyms{anonymizer{key: key, words: map[string]string{}}}
}

// Of returns the replacement of the name of a function or a file. Names of the standard library are
// returned unchanged.
func (p *Pseudonyms) Of(name string) string {
	if standardName(name) {
		return name
	}
	if base, ok := strings.CutSuffix(name, ".go"); ok {
		return p.a.string(base) + ".go"
	}
	return p.a.string(name)
}

// maxWords bounds the cache of replacements; words beyond it are computed again.
const maxWords = 1 << 20

// generation replaces the strings of a generation in place: they keep their lengths.
func (a *anonymizer) generation(g *raw) {
	frames := stackStrings(g)
	for _, b := range g.batches {
		p := g.payload(b)
		if len(p) == 0 || wire.Type(p[0]) != wire.Strings {
			continue
		}
		for p = p[1:]; len(p) > 0 && wire.Type(p[0]) == wire.String; {
			p = p[1:]
			id, n := binary.Uvarint(p)
			if n <= 0 {
				break
			}
			size, m := binary.Uvarint(p[n:])
			if m <= 0 || size > uint64(len(p)-n-m) {
				break
			}
			p = p[n+m:]
			if text := string(p[:size]); !knownWords(text) && !(frames[id] && standardName(text)) {
				copy(p, a.string(text))
			}
			p = p[size:]
		}
	}
}

// stackStrings returns the IDs of the strings that name functions and files. Only in these are
// names of the standard library kept: the same words in a log are the user's.
func stackStrings(g *raw) map[uint64]bool {
	ids := map[uint64]bool{}
	for _, b := range g.batches {
		p := g.payload(b)
		if len(p) == 0 || wire.Type(p[0]) != wire.Stacks {
			continue
		}
		next := func() uint64 {
			v, n := binary.Uvarint(p)
			p = p[max(n, 0):]
			if n <= 0 {
				p = nil
			}
			return v
		}
		for p = p[1:]; len(p) > 0 && wire.Type(p[0]) == wire.Stack; {
			p = p[1:]
			next() // ID
			for range min(next(), wire.MaxFrames) {
				next() // PC
				ids[next()] = true
				ids[next()] = true
				next() // line
			}
		}
	}
	return ids
}

// string returns the replacement of a string, of the same length.
func (a *anonymizer) string(s string) string {
	var out strings.Builder
	for len(s) > 0 {
		n := strings.IndexFunc(s, func(r rune) bool { return !letter(r) })
		if n < 0 {
			n = len(s)
		}
		out.WriteString(a.word(s[:n]))
		if n < len(s) {
			out.WriteByte(s[n])
			n++
		}
		s = s[n:]
	}
	return out.String()
}

func letter(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80
}

// word returns letters that replace a word. Words that the compiler writes in every program (main,
// func1, go, init) are kept.
func (a *anonymizer) word(w string) string {
	digits := strings.Trim(w, "0123456789") == ""
	compiler := strings.HasPrefix(w, "func") && strings.Trim(w[4:], "0123456789") == "" || strings.HasPrefix(w, "gowrap") && strings.Trim(w[6:], "0123456789") == ""
	switch {
	case digits && len(w) < 3, compiler, w == "main", w == "go", w == "init", w == "":
		return w
	}
	if v, ok := a.words[w]; ok {
		return v
	}
	const letters = "abcdefghijklmnopqrstuvwxyz"
	mac := hmac.New(sha256.New, a.key)
	out := make([]byte, 0, len(w)+sha256.Size)
	for block := byte(0); len(out) < len(w); block++ {
		mac.Reset()
		mac.Write([]byte{block})
		io.WriteString(mac, w)
		for _, c := range mac.Sum(nil) {
			out = append(out, letters[int(c)%len(letters)])
		}
	}
	out = out[:len(w)]
	if w[0] >= 'A' && w[0] <= 'Z' {
		copy(out, bytes.ToUpper(out[:1])) // exported names stay exported
	}
	if len(a.words) < maxWords {
		a.words[w] = string(out)
	}
	return string(out)
}

// standardName reports whether a function or a file belongs to the standard library.
func standardName(s string) bool {
	if !strings.HasSuffix(s, ".go") {
		return strings.Contains(s, ".") && symbol.Standard(symbol.Package(s))
	}
	dir := belowSrc(path.Dir(s))
	return dir != "main" && symbol.Standard(dir)
}

// knownWords reports whether a string is a reason or a label that the runtime writes.
func knownWords(s string) bool {
	switch s {
	case "GC (dedicated)", "GC (fractional)", "GC (idle)":
		return true
	// Why the world is stopped (runtime/proc.go, stwReasonStrings).
	case "unknown", "GC mark termination", "GC sweep termination", "write heap dump", "goroutine profile",
		"goroutine profile cleanup", "all goroutines stack trace", "read mem stats", "AllThreadsSyscall",
		"GOMAXPROCS", "start trace", "stop trace":
		return true
	}
	w := wordOf([]byte(s))
	return w != wordOther
}
