package choice

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/rule"
)

// All is the name for all rules.
const All = "all"

// Known is what a list of rules may name.
type Known struct {
	IDs   []string
	Kinds map[string]rule.Kind // of each ID
}

// KnownRules names the given rules.
func KnownRules(rules []rule.Rule) Known {
	k := Known{Kinds: map[string]rule.Kind{}}
	for _, r := range rules {
		k.IDs = append(k.IDs, r.ID)
		k.Kinds[r.ID] = r.Kind
	}
	return k
}

// Off returns the rules that a list turns off, in the order of known. A list is like staticcheck's
// -checks: names separated by commas, each a rule's ID, a kind (alloc, cpu, lock, …), a pattern
// with * or "all"; a minus in front turns off. A later name overrides an earlier one. A list that
// starts with a minus starts from all rules.
func (k Known) Off(list string) ([]string, error) {
	list = strings.TrimSpace(list)
	if list == "" {
		return nil, nil
	}
	on := map[string]bool{}
	if strings.HasPrefix(list, "-") {
		for _, id := range k.IDs {
			on[id] = true
		}
	}
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		word, off := strings.CutPrefix(name, "-")
		ids, err := k.named(word)
		if err != nil {
			return nil, fmt.Errorf("rules %q: %w", list, err)
		}
		for _, id := range ids {
			on[id] = !off
		}
	}
	var off []string
	for _, id := range k.IDs {
		if !on[id] {
			off = append(off, id)
		}
	}
	return off, nil
}

// named returns the rules that a name of a list stands for.
func (k Known) named(name string) ([]string, error) {
	if name == All {
		return k.IDs, nil
	}
	var ids []string
	for _, id := range k.IDs {
		match, err := path.Match(name, id)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", name, err)
		}
		if match || string(k.Kinds[id]) == name {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil, fmt.Errorf("no rule, kind or pattern %q: hone rules lists the rules, kinds are %s", name, kinds())
	}
	return ids, nil
}

func kinds() string {
	var words []string
	for _, k := range rule.Kinds() {
		words = append(words, string(k))
	}
	slices.Sort(words)
	return strings.Join(words, ", ")
}

// Is reports whether a name of a list (without a minus) stands for a rule.
func (k Known) Is(name, id string) bool {
	ids, err := k.named(name)
	return err == nil && slices.Contains(ids, id)
}
