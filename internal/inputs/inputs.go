package inputs

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Counts are the inputs of one recording, as in the part inputs.json.
type Counts struct {
	// Units is the number of units of work (requests, operations, runs) in which the calls
	// happened; 0 if unknown.
	Units float64 `json:"units,omitempty"`
	// Requests is the number of requests of net/http, fasthttp and gRPC that could be
	// distinguished, and Targets how many different ones of net/http there were by method and
	// address.
	Requests int64 `json:"requests,omitempty"`
	Targets  int64 `json:"different_requests,omitempty"`
	// Iterations is the number of iterations, outside of requests, of loops that take work from a
	// channel or a queue. Function.InRequest treats them as requests.
	Iterations int64      `json:"iterations,omitempty"`
	Functions  []Function `json:"functions"`
	// Pairs are pairs of functions that got the same long text in the same request or iteration.
	Pairs []Pair `json:"same_text,omitempty"`
}

// LongText is the minimum length of a string or []byte, in bytes, that counts as a text. The probe
// has the same limit.
const LongText = 64

// Pair is two functions that got the same text. First was the first function to get it in a
// request; Then got it later.
type Pair struct {
	First string `json:"first"`
	Then  string `json:"then"`
	Times int64  `json:"times"` // number of texts, each in one request
}

// Apart returns the number of requests, or of iterations, that could be distinguished, and the word
// for one of them.
func (c *Counts) Apart() (n float64, unit string) {
	if c.Requests == 0 && c.Iterations > 0 {
		return float64(c.Iterations), "iteration of the loop that takes work"
	}
	return float64(c.Requests + c.Iterations), "request"
}

// MostCalls is the number of calls of a function that are examined at most. The probe has the same
// limit.
const MostCalls = 1 << 18

// Function is the inputs of one function.
type Function struct {
	Name    string `json:"name"` // as in profiles
	Package string `json:"package"`
	File    string `json:"file"`
	Line    int    `json:"line"` // of the word func

	Calls     int64 `json:"calls"`
	Hashed    int64 `json:"hashed"`              // calls whose parameters, except the receiver, could all be hashed: the figures below are of these
	Different int64 `json:"different"`           // different inputs: the values of the parameters, without the receiver and without what is known only by its address
	Identical int64 `json:"different_addresses"` // the same, including the receiver and the addresses
	InRequest int64 `json:"calls_in_requests"`   // calls whose request is known
	// PerRequest is the number of different inputs in each request, including receiver and
	// addresses, summed over all requests. InRequest minus PerRequest calls had an input that the
	// same request had before.
	PerRequest int64 `json:"different_in_requests"`
	// Stable is the number of different inputs with the receiver's address, but not the memory
	// there: with a receiver that counts or remembers, every call has a different input for
	// Identical. StablePerRequest is the same in each request, summed over all requests.
	Stable           int64 `json:"different_stable,omitempty"`
	StablePerRequest int64 `json:"different_stable_in_requests,omitempty"`
	// Texts is the number of calls with a string or []byte of at least LongText bytes; the longest
	// of a call counts. For a reader that holds its text in memory, the text is the unread part.
	// TextsInRequest is the number of those whose request is known.
	Texts           int64 `json:"texts,omitempty"`
	DifferentTexts  int64 `json:"different_texts,omitempty"`
	TextsInRequest  int64 `json:"texts_in_requests,omitempty"`
	TextsPerRequest int64 `json:"different_texts_in_requests,omitempty"` // summed over all requests
	// Compared is the number of calls whose results could be compared with those of an earlier call
	// with the same input, as defined for Stable. Same is how many of them returned the same.
	Compared int64 `json:"compared,omitempty"`
	Same     int64 `json:"same,omitempty"`
	// Overlapping are calls that started while another call with the same input, as Stable counts
	// inputs, had not returned, on another goroutine. It is a lower bound for functions with
	// thousands of inputs. Recordings of earlier versions have 0 for functions without results.
	Overlapping int64 `json:"overlapping,omitempty"`
	// Stopped says that later calls were not examined: after MostCalls, or earlier if the function
	// is called very often in each request. StoppedAfter is the number of requests and iterations
	// that could be distinguished until then.
	Stopped      bool  `json:"stopped,omitempty"`
	StoppedAfter int64 `json:"stopped_after_requests,omitempty"`
	// Targets is how many different requests, as Counts.Targets counts them, led to the calls. 0 in
	// older recordings.
	Targets int64 `json:"different_requests,omitempty"`
	// Params says how each named parameter was hashed: by its value, by its address, or not at all.
	Params []Taken `json:"params"`
	// Given and Returned sum up the values of the named parameters, as Params lists them, and
	// of the first four results. Empty in older recordings.
	Given    []Values `json:"given,omitempty"`
	Returned []Values `json:"returned,omitempty"`
	// Again says how often the input, without the receiver, was that of the last call about the
	// same object, which one part of the input identifies: first no part, so that all calls are
	// about one object, then each parameter in turn. The elements of a last parameter ...any are
	// parts of their own, each together with the parameters before it. Empty in older recordings.
	Again []Again `json:"again,omitempty"`
	// Sites are the lines of other packages that call a function with a last parameter ...any, with
	// the same figures for each.
	Sites []Site `json:"sites,omitempty"`
}

// Site is a line that calls a watched function.
type Site struct {
	File  string  `json:"file"`
	Line  int     `json:"line"`
	Again []Again `json:"again"`
}

// Again counts calls whose object an earlier call was about. They are fewer than all calls of the
// function if there are thousands of objects.
type Again struct {
	Calls int64 `json:"calls"`
	Same  int64 `json:"same"` // with the same input as the last of these
}

// Taken says how a parameter was hashed.
type Taken string

// How parameters are hashed: by value; by address, if they contain pointers, maps, functions or
// channels; or not at all, if they are too large.
const (
	ByValue   Taken = "value"
	ByAddress Taken = "address"
	NotTaken  Taken = "no"
)

// ByValue reports whether there are parameters and all were hashed by value.
func (f *Function) ByValue() bool {
	for _, p := range f.Params {
		if p != ByValue {
			return false
		}
	}
	return len(f.Params) > 0
}

// Source is a function that was watched, and the number of its named parameters.
type Source struct {
	Name, Package, File string
	Line                int
	Params              int
}

// Parse reads what the probe writes: a line "requests N DIFFERENT ITERATIONS", a line of numbers
// for each watched function, which starts with its index in sources, and lines "site …" for
// the callers of the function before them, "given …" and "returned …" for its values, and
// lines "also FIRST THEN TIMES" for pairs.
func Parse(text []byte, sources []Source) (*Counts, error) {
	c := &Counts{Functions: []Function{}}
	scan := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; scan.Scan(); n++ {
		words := strings.Fields(scan.Text())
		if n > 1 && len(words) > 3 && words[0] == "site" {
			if err := c.addSite(words[1:], sources); err != nil {
				return nil, fmt.Errorf("inputs: line %d: %w", n, err)
			}
			continue
		}
		if n > 1 && len(words) > 0 && (words[0] == "given" || words[0] == "returned") {
			if err := c.addValues(words[1:], sources, words[0] == "returned"); err != nil {
				return nil, fmt.Errorf("inputs: line %d: %w", n, err)
			}
			continue
		}
		pair := n > 1 && len(words) == 4 && words[0] == "also"
		if pair {
			words = words[1:]
		}
		if n == 1 {
			if len(words) != 4 || words[0] != "requests" {
				return nil, fmt.Errorf("inputs: line 1 is %q, not the number of requests", scan.Text())
			}
			words = words[1:]
		}
		numbers := make([]int64, len(words))
		for i, w := range words {
			var err error
			if numbers[i], err = strconv.ParseInt(w, 10, 64); err != nil || numbers[i] < 0 {
				return nil, fmt.Errorf("inputs: line %d: %q is not a number of calls", n, w)
			}
		}
		if n == 1 {
			c.Requests, c.Targets, c.Iterations = numbers[0], numbers[1], numbers[2]
			continue
		}
		if pair {
			if numbers[0] >= int64(len(sources)) || numbers[1] >= int64(len(sources)) {
				return nil, fmt.Errorf("inputs: line %d does not refer to a watched function", n)
			}
			c.Pairs = append(c.Pairs, Pair{First: sources[numbers[0]].Name, Then: sources[numbers[1]].Name, Times: numbers[2]})
			continue
		}
		if len(numbers) < fixed || numbers[0] >= int64(len(sources)) {
			return nil, fmt.Errorf("inputs: line %d does not refer to a watched function", n)
		}
		c.Functions = append(c.Functions, function(sources[numbers[0]], numbers))
	}
	slices.SortFunc(c.Pairs, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(b.Times, a.Times), cmp.Compare(a.First, b.First), cmp.Compare(a.Then, b.Then))
	})
	return c, scan.Err()
}

// fixed is the number of numbers before those of the parameters, and taken the number of those.
const fixed, taken = 18, 16

func function(s Source, n []int64) Function {
	f := Function{
		Name: s.Name, Package: s.Package, File: s.File, Line: s.Line,
		Calls: n[1], Hashed: n[2], Different: n[3], Identical: n[4], InRequest: n[5], PerRequest: n[6],
		Stable: n[7], StablePerRequest: n[8],
		Texts: n[9], DifferentTexts: n[10], TextsInRequest: n[11], TextsPerRequest: n[12], Compared: n[13], Same: n[14], Overlapping: n[15],
		Stopped: n[16] > 0, StoppedAfter: max(n[16]-1, 0), Targets: n[17], Params: []Taken{},
	}
	kinds := []Taken{ByValue, ByAddress, NotTaken}
	for _, k := range n[fixed:min(len(n), fixed+s.Params)] {
		f.Params = append(f.Params, kinds[min(k, int64(len(kinds)-1))])
	}
	f.Again = again(n[min(len(n), fixed+taken):])
	return f
}

// again returns pairs of numbers, without those at the end that are zero.
func again(n []int64) (all []Again) {
	for i := 0; i+1 < len(n); i += 2 {
		all = append(all, Again{Calls: n[i], Same: n[i+1]})
	}
	for len(all) > 0 && all[len(all)-1].Calls == 0 {
		all = all[:len(all)-1]
	}
	return all
}

// addSite adds a line that calls the last function: "F LINE CALLS SAME … FILE".
func (c *Counts) addSite(words []string, sources []Source) error {
	var numbers []int64
	for len(words) > 0 {
		n, err := strconv.ParseInt(words[0], 10, 64)
		if err != nil {
			break
		}
		numbers, words = append(numbers, n), words[1:]
	}
	last := len(c.Functions) - 1
	if len(numbers) < 2 || last < 0 || numbers[0] < 0 || numbers[0] >= int64(len(sources)) || sources[numbers[0]].Name != c.Functions[last].Name {
		return errors.New("a caller does not refer to the function before it")
	}
	f := &c.Functions[last]
	f.Sites = append(f.Sites, Site{File: strings.Join(words, " "), Line: int(numbers[1]), Again: again(numbers[2:])})
	slices.SortFunc(f.Sites, func(a, b Site) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	return nil
}

// Read reads the part inputs.json of a recording.
func Read(data []byte) (*Counts, error) {
	var c Counts
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, fmt.Errorf("inputs: %w", err)
	}
	for i, f := range c.Functions {
		if f.Calls < 0 || f.Hashed < 0 || f.Hashed > f.Calls || f.Different < 0 || f.InRequest < 0 || f.InRequest > f.Hashed || f.PerRequest < 0 ||
			f.Texts < 0 || f.Texts > f.Calls || f.TextsInRequest < 0 || f.TextsInRequest > f.Texts || f.Same < 0 || f.Compared < f.Same || f.Overlapping < 0 || f.Overlapping > f.Calls || f.StoppedAfter < 0 {
			return nil, fmt.Errorf("inputs: the figures of function %d, %q, contradict each other", i, f.Name)
		}
		if odd := func(v Values) bool { return !v.consistent() }; slices.ContainsFunc(f.Given, odd) || slices.ContainsFunc(f.Returned, odd) {
			return nil, fmt.Errorf("inputs: the values of function %d, %q, contradict each other", i, f.Name)
		}
		wrong := func(a Again) bool { return a.Same < 0 || a.Calls < a.Same || a.Calls > f.Calls }
		if slices.ContainsFunc(f.Again, wrong) || slices.ContainsFunc(f.Sites, func(s Site) bool { return slices.ContainsFunc(s.Again, wrong) }) {
			return nil, fmt.Errorf("inputs: the figures of function %d, %q, contradict each other", i, f.Name)
		}
		if f.Calls >= MostCalls {
			c.Functions[i].Stopped = true // recordings made before the part said so
		}
	}
	return &c, nil
}

// Of returns the inputs of a function, by its name in profiles; nil when it was not watched.
func (c *Counts) Of(name string) *Function {
	if c == nil {
		return nil
	}
	for i := range c.Functions {
		if c.Functions[i].Name == name {
			return &c.Functions[i]
		}
	}
	return nil
}
