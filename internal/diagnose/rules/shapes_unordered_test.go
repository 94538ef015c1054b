package rules_test

import (
	"testing"

	sortnotneeded "github.com/hone-go/hone/internal/diagnose/rules/sort-not-needed"
)

// TestSortNotNeededShapes: lists are followed through parameters, results, methods, interfaces.
func TestSortNotNeededShapes(t *testing.T) {
	const head = `import (
	"log"
	"slices"
	"sort"
	"strings"
)

type right struct {
	action, scope string
	weight        int
}

func (r right) covers(object string) bool { return r.action == "all" || strings.HasPrefix(object, r.scope) }

func (r right) mentions(text string) bool { return strings.Contains(text, r.scope) }

func compare(a, b right) int { return strings.Compare(a.scope, b.scope) }

type counter struct{ n int }

func (c *counter) Inc() { c.n++ }

type source interface{ fetch(n int) ([]right, error) }

type memory struct{ kept map[int][]right }

func (m *memory) fetch(n int) ([]right, error) {
	all := make([]right, 0, n)
	for _, r := range m.kept[n] {
		all = append(all, r)
	}
	return all, nil
}

func (m *memory) peek(n int) ([]right, error) { return m.kept[n], nil }

type service struct {
	memory *memory
	source source
	hits   counter
	misses int
	last   []right
}

type rights []right

func (l rights) total() (n int) {
	for _, r := range l {
		n += r.weight
	}
	return n
}

func valid(list []right) error { return nil }

var _, _, _ = log.Print, sort.Slice, slices.Sort[[]int]`
	const yes, no = "nothing needs the order", ""
	checkShapes(t, sortnotneeded.Rule(), head, "slices.pdqsortCmpFunc[go.shape.struct{}] slices.SortFunc[go.shape.struct{}]", 0, []shape{
		// The helper sorts its parameter; a list and an error; a metric before the end.
		{`func F(all []right) []right {
	slices.SortFunc(all, compare) @
	return slices.Compact(all)
}

func (s *service) of_N(n int) ([]right, error) {
	all, err := s.memory.fetch(n)
	if err != nil {
		return nil, err
	}
	return f_N(all), nil
}

func (s *service) may_N(n int, object string) (bool, error) {
	all, err := s.of_N(n)
	if err != nil {
		return false, err
	}
	for _, r := range all {
		if r.covers(object) {
			s.hits.Inc()
			return true, nil
		}
	}
	s.misses++
	return false, nil
}`, "they would change nothing"},
		// Elements that occur twice would count twice.
		{`func F(all []right) []right {
	slices.SortFunc(all, compare) @
	return slices.Compact(all)
}

func (s *service) count_N(n int) (sum int, err error) {
	all, err := s.memory.fetch(n)
	if err != nil {
		return 0, err
	}
	all = f_N(all)
	for _, r := range all {
		sum += r.weight
	}
	return sum, nil
}`, no},
		// The list belongs to the memory.
		{`func F(all []right) []right {
	slices.SortFunc(all, compare) @
	return all
}

func (s *service) count_N(n int) (sum int, err error) {
	all, err := s.memory.peek(n)
	if err != nil {
		return 0, err
	}
	for _, r := range f_N(all) {
		sum += r.weight
	}
	return sum, nil
}`, no},
		{`func (s *service) F(n int) (sum int, err error) {
	all, err := s.memory.peek(n)
	slices.SortFunc(all, compare) @
	for _, r := range all {
		sum += r.weight
	}
	return sum, err
}`, no},
		// An interface that only the memory implements; the index is used only for the element.
		{`func (s *service) F(n int) (sum int, err error) {
	all, err := s.source.fetch(n)
	if err != nil {
		return 0, err
	}
	if err := valid(all); err != nil {
		return 0, err
	}
	slices.SortFunc(all, compare) @
	for i := range all {
		sum += all[i].weight
	}
	return sum, nil
}`, yes},
		{`func (s *service) F(n int) (sum int) {
	all, _ := s.source.fetch(n)
	slices.SortFunc(all, compare) @
	for i := 0; i < len(all); i++ {
		if all[i].covers("x") {
			sum++
		}
	}
	return sum
}`, yes},
		{`func (s *service) F(n int) (sum int) {
	all, _ := s.source.fetch(n)
	slices.SortFunc(all, compare) @
	for i := 0; i < len(all); i++ {
		sum += i * all[i].weight
	}
	return sum
}`, no},
		// Named results, else and switch.
		{`func (s *service) F(n int) (list []right, err error) {
	for _, r := range s.memory.kept[n] {
		list = append(list, r)
	}
	slices.SortFunc(list, compare) @
	return
}

func (s *service) both_N(n int) (few, many int) {
	list, err := s.f_N(n)
	if err != nil {
		return 0, 0
	}
	for _, r := range list {
		if r.weight > 3 {
			many++
		} else {
			few++
		}
		switch r.action {
		case "read":
			few += r.weight
		default:
			many += r.weight
		}
	}
	return few, many
}`, yes},
		{`func (s *service) F(n int) (list []right, err error) {
	for _, r := range s.memory.kept[n] {
		list = append(list, r)
	}
	slices.SortFunc(list, compare) @
	return
}

func (s *service) keep_N(n int) (err error) {
	s.last, err = s.f_N(n)
	return err
}`, no},
		// The method of a list; the log tells which one was found.
		{`func (s *service) F(n int) int {
	all, _ := s.memory.fetch(n)
	slices.SortFunc(all, compare) @
	return rights(all).total()
}`, no},
		{`func (s *service) F(n int) int {
	var all rights
	all = append(all, s.memory.kept[n]...)
	slices.SortFunc(all, compare) @
	return all.total()
}`, yes},
		{`func (s *service) F(n int) bool {
	all, _ := s.memory.fetch(n)
	slices.SortFunc(all, compare) @
	for _, r := range all {
		if r.covers("x") {
			log.Println("found", r.scope)
			return true
		}
	}
	return false
}`, no},
		{`func (s *service) F(n int, text string) bool {
	all, _ := s.memory.fetch(n)
	slices.SortFunc(all, compare) @
	for _, r := range all {
		if r.mentions(text) {
			return true
		}
	}
	return false
}`, no},
		// Lists of a map that is kept.
		{`func (s *service) F() (n int) {
	for _, list := range s.memory.kept {
		slices.SortFunc(list, compare) @
		for _, r := range list {
			n += r.weight
		}
	}
	return n
}`, no},
		// A generic helper; a closure that reads the list later.
		{`func F[T any](all []T, cmp func(a, b T) int) []T {
	slices.SortFunc(all, cmp) @
	return all
}

func (s *service) sum_N(n int) (sum int) {
	all, _ := s.memory.fetch(n)
	for _, r := range f_N(all, compare) {
		sum += r.weight
	}
	return sum
}`, yes},
		{`func (s *service) F(n int) (string, int) {
	all, _ := s.memory.fetch(n)
	first := func() string { return all[0].scope }
	slices.SortFunc(all, compare) @
	sum := 0
	for _, r := range all {
		sum += r.weight
	}
	return first(), sum
}`, no},
	})
}
