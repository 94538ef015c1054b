package load

import (
	"fmt"
	"strconv"
	"strings"
)

// Expect is the set of statuses that count as success. The zero value contains all below 400.
type Expect struct {
	text string
	set  *[maxStatus]bool // nil: all below 400
}

const maxStatus = 600

// ParseExpect parses a list of statuses and status classes, such as "200,404", "4xx" or "2xx,304".
// "" gives the zero value.
func ParseExpect(text string) (Expect, error) {
	if strings.TrimSpace(text) == "" {
		return Expect{}, nil
	}
	e := Expect{set: new([maxStatus]bool)}
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		item = strings.ToLower(strings.TrimSpace(item))
		first, last, ok := statuses(item)
		if !ok {
			return Expect{}, fmt.Errorf("%q is not a status: want a list like 200,404 or 4xx, of 100 to 599", item)
		}
		for status := first; status <= last; status++ {
			e.set[status] = true
		}
		items = append(items, item)
	}
	e.text = strings.Join(items, ",")
	return e, nil
}

// statuses parses "404" or "4xx".
func statuses(item string) (first, last int, ok bool) {
	span := 0
	if class, found := strings.CutSuffix(item, "xx"); found && len(item) == 3 {
		item, span = class+"00", 99
	}
	first, err := strconv.Atoi(item)
	return first, first + span, err == nil && len(item) == 3 && first >= 100 && first < maxStatus
}

// Has reports whether the status counts as success.
func (e Expect) Has(status int) bool {
	if e.set == nil {
		return status < 400
	}
	return status >= 0 && status < maxStatus && e.set[status]
}

// String returns the list as ParseExpect accepts it, "" for the zero value.
func (e Expect) String() string { return e.text }
