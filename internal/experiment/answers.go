package experiment

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/load"
)

// sampleOf is the number of a load's targets that are requested, twice in each run, to compare the
// answers of a service.
const sampleOf = 50

// Answers says how the answers of a service were compared with those of the unchanged target.
type Answers struct {
	Requests int `json:"requests"` // different requests
	Bodies   int `json:"bodies"`   // of those, the ones whose bodies were compared
	// Unsteady are the others: their bodies differ from request to request in the unchanged target,
	// as times and random names do.
	Unsteady []string `json:"unsteady,omitempty"`
}

// said is the answers to one request in all runs of a side.
type said struct {
	target   string
	statuses map[string]bool // "200", or the kind of an error
	bodies   map[string]bool
}

// addAnswers adds the answers of one run.
func (k *kept) addAnswers(rec *recording.Recording) error {
	if !rec.Has(recording.PartAnswers) {
		return nil
	}
	text, err := rec.Bytes(recording.PartAnswers)
	if err != nil {
		return err
	}
	var turns [][]load.Answer
	if err := json.Unmarshal(text, &turns); err != nil {
		return fmt.Errorf("%s: %w", recording.PartAnswers, err)
	}
	for _, turn := range turns {
		for i, a := range turn {
			if i == len(k.said) {
				k.said = append(k.said, said{a.Target, map[string]bool{}, map[string]bool{}})
			}
			status := string(a.Error)
			if status == "" {
				status = fmt.Sprint(a.Status)
			}
			k.said[i].statuses[status] = true
			k.said[i].bodies[a.Body] = true
		}
	}
	return nil
}

// differ compares the answers of a variant with those of the unchanged target: by status, and by
// body if the target's is the same in all its runs. It returns how they differ, "" if they do not.
func differ(own, variant []said) (a *Answers, differs string) {
	n := min(len(own), len(variant))
	if n == 0 {
		return nil, ""
	}
	a = &Answers{Requests: n}
	var all []string
	for i := range n {
		o, v := own[i], variant[i]
		was, is := only(o.statuses), only(v.statuses)
		steady := only(o.bodies) != ""
		switch {
		case was != "" && was != is:
			all = append(all, fmt.Sprintf("%s is answered %s instead of %s", o.target, words(v.statuses), was))
		case !steady:
			a.Unsteady = append(a.Unsteady, o.target)
		case only(v.bodies) == "":
			all = append(all, fmt.Sprintf("the body of %s differs from request to request, which it does not in the unchanged target", o.target))
		case only(v.bodies) != only(o.bodies):
			all = append(all, fmt.Sprintf("the body of %s differs", o.target))
		}
		if steady {
			a.Bodies++
		}
	}
	const most = 3
	if len(all) > most {
		all = append(all[:most], fmt.Sprintf("and %d more", len(all)-most))
	}
	return a, strings.Join(all, "; ")
}

// only returns the member of a set with one member, "" for other sets.
func only(set map[string]bool) string {
	if len(set) == 1 {
		for x := range set {
			return x
		}
	}
	return ""
}

func words(set map[string]bool) string {
	if one := only(set); one != "" {
		return one
	}
	return "in several ways"
}
