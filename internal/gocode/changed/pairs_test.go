package changed

// pairs are two releases of F, and what differs.
var pairs = []struct{ name, old, new, gone, now string }{
	{
		name: "call",
		old:  "import \"regexp\"\nfunc F(s string) bool { return regexp.MustCompile(`a`).MatchString(s) }",
		new:  "import \"regexp\"\nvar re = regexp.MustCompile(`a`)\nfunc F(s string) bool { return re.MatchString(s) }",
		gone: "calls regexp.MustCompile; calls MatchString",
		now:  "uses the new package variable re (regexp.MustCompile(`a`)); calls re.MatchString",
	},
	{
		name: "out of a loop",
		old:  "import \"strings\"\nfunc F(l []string, s string) { for range l { G(strings.ToLower(s)) } }\nfunc G(string) {}",
		new:  "import \"strings\"\nfunc F(l []string, s string) { s = strings.ToLower(s); for range l { G(s) } }\nfunc G(string) {}",
		gone: "calls strings.ToLower in a loop",
	},
	{
		name: "only if",
		old:  "import \"sort\"\nfunc F(l []int) { sort.Ints(l) }",
		new:  "import \"sort\"\nfunc F(l []int) { if len(l) < 2 { return }; sort.Ints(l) }",
		now:  "calls sort.Ints only if len(l) >= 2",
	},
	{
		name: "only if not in a map",
		old:  "import \"regexp\"\nfunc F(s string) *regexp.Regexp { return regexp.MustCompile(s) }",
		new: `import "regexp"
			type T struct { m map[string]*regexp.Regexp }
			var t T
			func F(s string) *regexp.Regexp {
				re, ok := t.m[s]
				if !ok {
					re = regexp.MustCompile(s)
				}
				return re
			}`,
		now: "uses the new package variable t (T); looks up s in t.m; uses the field m (map[string]*regexp.Regexp) of T; calls regexp.MustCompile only if s is not in t.m",
	},
	{
		name: "stops at the first",
		old:  "type T struct { r []int }\nfunc F(t *T, l []int) { for _, x := range l { t.r = append(t.r, x) } }",
		new:  "type T struct { r []int }\nfunc F(t *T, l []int, yield func(int) bool) { for _, x := range l { if !yield(x) { return } } }",
		gone: "appends to t.r in a loop",
		now:  "has the new parameter yield (func(int) bool); stops a loop early if !yield(x)",
	},
	{
		name: "a condition in place of another",
		old:  "import \"sort\"\nfunc F(l []int) { if len(l) > 9 { sort.Ints(l) } }",
		new:  "import \"sort\"\nfunc F(l []int) { if len(l) > 8 { sort.Ints(l) } }",
	},
	{
		name: "an error check",
		old:  "import \"sort\"\nfunc F(l []int, g func() error) { g(); sort.Ints(l) }",
		new:  "import \"sort\"\nfunc F(l []int, g func() error) error { if err := g(); err != nil { return err }; sort.Ints(l); return nil }",
	},
	{
		name: "loop",
		old:  "func F(l []int, x int) bool { for _, y := range l { if x == y { return true } }; return false }",
		new:  "import \"slices\"\nfunc F(l []int, x int) bool { _, ok := slices.BinarySearch(l, x); return ok }",
		gone: "loops over l; stops a loop early if x == y",
		now:  "calls slices.BinarySearch",
	},
	{
		name: "value of a new type",
		old:  "import \"io\"\nfunc F(r io.ReadCloser) io.ReadCloser { return r }",
		new: "import \"io\"\ntype closing struct { io.ReadCloser; cancel func() }\nfunc (c *closing) Close() error { c.cancel(); return c.ReadCloser.Close() }\n" +
			"func F(r io.ReadCloser) io.ReadCloser { return &closing{r, func() {}} }",
		now: "creates a value of the new type closing (ReadCloser io.ReadCloser, cancel func())",
	},
	{
		name: "loop by index",
		old:  "func F(l []int) (n int) { for i := 0; i < len(l); i++ { n += l[i] }; return n }",
		new:  "func F(l []int) (n int) { for _, x := range l { n += x }; return n }",
	},
	{
		name: "fields",
		old:  "type T struct { a int }\nfunc F(t *T) int { return t.a }",
		new:  "import \"sync\"\ntype T struct {\n\ta int64\n\t// cache has the sums.\n\tcache sync.Map\n}\nfunc F(t *T) int { t.cache.Load(t.a); return int(t.a) }",
		now:  "uses the new field cache (sync.Map) of T; uses the field a of T as an int64, not an int; calls t.cache.Load",
	},
	{
		name: "literal with a new field",
		old:  "type T struct { a int }\nfunc F() T { return T{a: 1} }",
		new:  "type T struct { a, b int }\nfunc F() T { return T{a: 1, b: 2} }",
		now:  "uses the new field b (int) of T",
	},
	{
		name: "new function",
		old:  "func F(s string) {}",
		new:  "func F(s string) { lookup(s) }\n// lookup finds it in the cache. It is fast.\nfunc lookup(s string) {}",
		now:  "calls the new lookup",
	},
	{
		name: "code that moved to a function",
		old:  "import \"strings\"\nfunc F(s string) string { return strings.ToLower(s) }",
		new:  "import \"strings\"\nfunc F(s string) string { return lower(s) }\nfunc lower(t string) string { return strings.ToLower(t) }",
		now:  "calls the new lower",
	},
	{
		name: "sized",
		old:  "func F(l []int) map[int]bool { m := make(map[int]bool); for _, x := range l { m[x] = true }; return m }",
		new:  "func F(l []int) map[int]bool { m := make(map[int]bool, len(l)); for _, x := range l { m[x] = true }; return m }",
		gone: "allocates a map[int]bool",
		now:  "allocates a map[int]bool with room for len(l)",
	},
	{
		name: "builder",
		old:  "func F(l []string) string { s := \"\"; for _, x := range l { s += x }; return s }",
		new:  "import \"strings\"\nfunc F(l []string) string { var b strings.Builder; for _, x := range l { b.WriteString(x) }; return b.String() }",
		gone: "adds to the string s in a loop",
		now:  "collects its output in a strings.Builder; calls b.WriteString in a loop; calls b.String",
	},
	{
		name: "sum of strings",
		old:  "func F(l []string) string { s := \"\"; for _, x := range l { s = s + \",\" + x }; return s }",
		new:  "func F(l []string) string { return \"\" }",
		gone: "adds to the string s in a loop; loops over all of l",
	},
	{
		name: "conversions and copies",
		old:  "func F(s string, b []byte) { G([]byte(s)); H(string(b)); G(append([]byte(nil), b...)); c := []byte{}; copy(c, s) }\nfunc G([]byte) {}\nfunc H(string) {}",
		new:  "func F(s string, b []byte) { G(b); H(s) }\nfunc G([]byte) {}\nfunc H(string) {}",
		gone: "converts s to []byte; converts b to string; copies b; creates a []byte",
	},
	{
		name: "parameters",
		old:  "func F(v interface{}) {}",
		new:  "func F(v []byte, n int) {}",
		now:  "takes v as a []byte, not as any; has the new parameter n (int)",
	},
	{
		name: "read lock",
		old:  "import \"sync\"\nvar mu sync.RWMutex\nfunc F() { mu.Lock(); defer mu.Unlock() }",
		new:  "import \"sync\"\nvar mu sync.RWMutex\nfunc F() { mu.RLock(); defer mu.RUnlock() }",
		gone: "locks mu",
		now:  "read-locks mu",
	},
	{
		name: "released earlier",
		old:  "import \"sync\"\nvar mu sync.Mutex\nfunc F(g func()) { mu.Lock(); defer mu.Unlock(); G() }\nfunc G() {}",
		new:  "import \"sync\"\nvar mu sync.Mutex\nfunc F(g func()) { mu.Lock(); mu.Unlock(); G() }\nfunc G() {}",
		gone: "calls G while it holds mu",
	},
	{
		name: "goroutines and channels",
		old:  "func F(c chan int) { go func() { c <- 1 }(); <-c }",
		new:  "import \"context\"\nfunc F(c chan int, ctx context.Context) { select { case c <- 2: case <-ctx.Done(): default: } }",
		gone: "starts a goroutine with a function literal; receives from c",
		now:  "receives from ctx.Done(); has a default case in its select; has the new parameter ctx (context.Context)",
	},
	{
		name: "timer",
		old:  "import \"time\"\nfunc F() { <-time.After(1) }",
		new:  "import \"time\"\nfunc F() { t := time.NewTimer(1); defer t.Stop(); <-t.C }",
		gone: "calls time.After",
		now:  "calls time.NewTimer; defers t.Stop; receives from t.C",
	},
	{
		name: "pool",
		old:  "import \"bytes\"\nfunc F() { b := new(bytes.Buffer); b.Reset() }",
		new:  "import (\"bytes\"; \"sync\")\nvar pool = sync.Pool{New: func() any { return new(bytes.Buffer) }}\nfunc F() { b := pool.Get().(*bytes.Buffer); b.Reset(); pool.Put(b) }",
		gone: "allocates a bytes.Buffer",
		now:  "uses the new package variable pool (sync.Pool); takes a value from the pool pool; returns a value to the pool pool",
	},
	{
		name: "renamed variables",
		old:  "import \"strings\"\ntype T struct { a []string }\nfunc F(t *T) { for _, x := range t.a { y := strings.Split(x, \",\"); G(y) } }\nfunc G([]string) {}",
		new:  "import \"strings\"\ntype T struct { a []string }\nfunc F(r *T) { for _, e := range r.a { list := strings.Split(e, \",\"); G(list) } }\nfunc G([]string) {}",
	},
	{
		name: "comments and formatting",
		old:  "func F(s interface{}) { G(s,\n1,\n) }\nfunc G(any, int) {}",
		new:  "// F does it.\nfunc F(s any) {\n\tG(s, 1) // at once\n}\nfunc G(any, int) {}",
	},
	{
		name: "lookup with a cache",
		old: `import "regexp"
			type Matcher struct { rules []string }
			func F(m *Matcher, s string) bool {
				n := 0
				for _, r := range m.rules { n += len(regexp.MustCompile(r).FindString(s)) }
				return n > 0
			}`,
		new: `import "regexp"
			type Matcher struct {
				rules []string
				cache map[string]*regexp.Regexp // compiled rules
			}
			func F(m *Matcher, s string) bool {
				n := 0
				for _, r := range m.rules { n += len(m.lookup(r).FindString(s)) }
				return n > 0
			}
			// lookup returns the compiled pattern, from the cache if it has been compiled before.
			func (m *Matcher) lookup(r string) *regexp.Regexp {
				if re, ok := m.cache[r]; ok { return re }
				re := regexp.MustCompile(r)
				m.cache[r] = re
				return re
			}`,
		now: "calls the new m.lookup; uses the new field cache (map[string]*regexp.Regexp) of Matcher; looks up r in m.cache in a loop; calls regexp.MustCompile only if r is not in m.cache",
	},
	{
		name: "more places",
		old:  "func F(c, d chan error) error { return <-c }",
		new:  "func F(c, d chan error) error {\n\tif err := <-d; err != nil { return err }\n\treturn <-c\n}",
		now:  "also receives from d",
	},
	{
		name: "fewer places",
		old:  "import \"strings\"\nfunc F(s string) { G(strings.Split(s, \",\")); G(strings.Split(s, \";\")) }\nfunc G([]string) {}",
		new:  "import \"strings\"\nfunc F(s string) { G(strings.Split(s, \",\")) }\nfunc G([]string) {}",
		gone: "calls strings.Split in 2 places (now in 1)",
	},
	{
		name: "nested loop",
		old:  "import \"sort\"\nfunc F(l [][]int) { for _, a := range l { for range a { sort.Ints(a) } } }",
		new:  "import \"sort\"\nfunc F(l [][]int) { for _, a := range l { for range a { }; sort.Ints(a) } }",
		gone: "calls sort.Ints in a nested loop",
	},
	{
		name: "cleared",
		old:  "func F(l []*int) { }",
		new:  "func F(l []*int) { l[0] = nil }",
		now:  "sets l[0] to nil",
	},
	{
		name: "other package of the same name",
		old:  "import \"math/rand\"\nfunc F() int { return rand.Int() }",
		new:  "import \"math/rand/v2\"\nfunc F() int { return rand.Int() }",
		gone: "calls rand.Int of math/rand",
		now:  "calls rand.Int of math/rand/v2",
	},
	{
		name: "only for an argument of a type",
		old:  "func F(v any) { G() }\nfunc G() {}",
		new:  "func F(v any) { switch v.(type) { case string: return; case int: G() } }\nfunc G() {}",
		now:  "calls G only if its argument is an int",
	},
	{
		name: "type shown in one release",
		old:  "import \"bytes\"\nfunc F(g func() *bytes.Buffer) { a := g(); a.Truncate(0) }",
		new:  "import \"bytes\"\nfunc F(g func() *bytes.Buffer) { var b *bytes.Buffer = g(); b.Truncate(0) }",
	},
	{
		name: "method of an interface in place of one",
		old:  "import \"regexp\"\ntype T struct{}\nfunc (t *T) run(s string) { regexp.MustCompile(s) }\nfunc F(t *T) { t.run(\"a\") }",
		new:  "import \"regexp\"\ntype T struct{}\nfunc (t *T) run(s string) { regexp.MustCompile(s) }\ntype R interface { run(string) }\nfunc F(t R) { t.run(\"a\") }",
	},
}
