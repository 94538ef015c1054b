package inputs

import (
	"errors"
	"strconv"
)

// Values sums up what the values of one parameter or result were like. Of results only those of
// calls count whose parameters could be hashed and, with thousands of inputs, of a part of them.
type Values struct {
	Seen  int64 `json:"seen"`
	Empty int64 `json:"empty,omitempty"` // nil, false, zero, or without elements
	// Length is the sum of the bytes of texts (strings and []byte), and of the elements of other
	// slices and of maps.
	Length int64 `json:"length,omitempty"`
	Texts  int64 `json:"texts,omitempty"` // that are not empty, nor longer than a mebibyte
	ASCII  int64 `json:"ascii,omitempty"` // texts without other characters
	// Unchanged is the number of texts that a function returned which were equal to the longest
	// text that it got.
	Unchanged int64 `json:"unchanged,omitempty"`
	// Grown is the number of texts of at least LongText bytes that begin with the last one for the
	// same receiver or, without a receiver, the same request. GrownBytes are all their bytes, and
	// NewBytes those after the beginning that was there before.
	Grown      int64 `json:"grown,omitempty"`
	GrownBytes int64 `json:"grown_bytes,omitempty"`
	NewBytes   int64 `json:"new_bytes,omitempty"`
	// Fed is the number of pointers and slices, given as a parameter, that one of the last calls of
	// the function had returned.
	Fed int64 `json:"fed,omitempty"`
	// Rest is the number of texts of at least LongText bytes, given as a parameter, that were in
	// memory the last one for the same receiver or, without a receiver, the same request, or the
	// end of it: a function that a parser calls at one position of a text after the other.
	Rest int64 `json:"rest,omitempty"`
}

// Mean is the mean length.
func (v Values) Mean() float64 {
	if v.Seen == 0 {
		return 0
	}
	return float64(v.Length) / float64(v.Seen)
}

func (v Values) consistent() bool {
	return v.Seen >= 0 && v.Empty >= 0 && v.Empty <= v.Seen && v.Length >= 0 && v.Texts >= 0 && v.Texts <= v.Seen-v.Empty && v.ASCII >= 0 && v.ASCII <= v.Texts &&
		v.Unchanged >= 0 && v.Unchanged <= v.Texts && v.Grown >= 0 && v.Grown <= v.Texts && v.NewBytes >= 0 && v.NewBytes <= v.GrownBytes && v.Fed >= 0 && v.Fed <= v.Seen && v.Rest >= 0 && v.Rest <= v.Texts
}

// addValues adds the values of a parameter or result of the last function, whose number in sources
// is the first word: "F I SEEN …".
func (c *Counts) addValues(words []string, sources []Source, returned bool) error {
	var n [13]int64
	if len(words) != len(n) {
		return errors.New("not the values of a parameter")
	}
	for i, w := range words {
		var err error
		if n[i], err = strconv.ParseInt(w, 10, 64); err != nil || n[i] < 0 {
			return errors.New("not the values of a parameter")
		}
	}
	last := len(c.Functions) - 1
	if last < 0 || n[0] >= int64(len(sources)) || sources[n[0]].Name != c.Functions[last].Name || n[1] >= taken {
		return errors.New("values do not refer to the function before them")
	}
	f := &c.Functions[last]
	to := &f.Given
	if returned {
		to = &f.Returned
	}
	for int64(len(*to)) <= n[1] {
		*to = append(*to, Values{})
	}
	(*to)[n[1]] = Values{Seen: n[2], Empty: n[3], Length: n[4], Texts: n[5], ASCII: n[6], Unchanged: n[7], Grown: n[8], GrownBytes: n[9], NewBytes: n[10], Fed: n[11], Rest: n[12]}
	return nil
}
