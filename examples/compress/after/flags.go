package main

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"slices"
	"sync"
)

// flagStore holds the flags. It may be used by many goroutines.
type flagStore struct {
	mu    sync.RWMutex
	flags map[string]*featureFlag
}

// featureFlag is a switch with variants for segments of the users.
type featureFlag struct {
	Key     string `json:"key"`
	Name    string `json:"name"`
	Enabled bool   `json:"enabled"`
	Rules   []rule `json:"rules"` // the first whose constraints match decides
}

// rule shares the entities of a segment out among variants.
type rule struct {
	Segment     string            `json:"segment"`
	Constraints map[string]string `json:"constraints"` // what the context must hold
	Variants    []share           `json:"variants"`
}

// share is a variant and the percentage of entities that see it.
type share struct {
	Variant string `json:"variant"`
	Percent uint32 `json:"percent"`
}

// evaluation is a question: which variant of the flag does the entity see?
type evaluation struct {
	FlagKey  string            `json:"flagKey"`
	EntityID string            `json:"entityId"`
	Context  map[string]string `json:"context"`
}

// verdict is the answer. Value is empty when no rule matches.
type verdict struct {
	evaluation
	Match   bool   `json:"match"`
	Segment string `json:"segmentKey,omitempty"`
	Value   string `json:"value,omitempty"`
}

func (s *flagStore) get(key string) (*featureFlag, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	flag := s.flags[key]
	if flag == nil {
		return nil, fmt.Errorf("flag %q not found", key)
	}
	return flag, nil
}

// all returns the flags in the order of their keys.
func (s *flagStore) all() []*featureFlag {
	s.mu.RLock()
	defer s.mu.RUnlock()
	flags := make([]*featureFlag, 0, len(s.flags))
	for _, flag := range s.flags {
		flags = append(flags, flag)
	}
	slices.SortFunc(flags, func(a, b *featureFlag) int { return cmp.Compare(a.Key, b.Key) })
	return flags
}

// put adds a flag or replaces it; a flag in the store is never changed.
func (s *flagStore) put(flag *featureFlag) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flags[flag.Key] = flag
}

// evaluate asks the rules in turn. An entity always gets the same answer.
func (f *featureFlag) evaluate(e evaluation) verdict {
	v := verdict{evaluation: e}
	if !f.Enabled {
		return v
	}
	for _, r := range f.Rules {
		if r.matches(e.Context) {
			v.Match, v.Segment, v.Value = true, r.Segment, r.variant(f.Key, e.EntityID)
			return v
		}
	}
	return v
}

func (r *rule) matches(context map[string]string) bool {
	for name, want := range r.Constraints {
		if context[name] != want {
			return false
		}
	}
	return true
}

// variant maps the entity to a percentage and that to a variant.
func (r *rule) variant(flagKey, entity string) string {
	bucket := crc32.ChecksumIEEE([]byte(flagKey+entity)) % 100
	for _, s := range r.Variants {
		if bucket < s.Percent {
			return s.Variant
		}
		bucket -= s.Percent
	}
	return ""
}

// sampleFlags is a store with something to ask for.
func sampleFlags() *flagStore {
	s := &flagStore{flags: make(map[string]*featureFlag)}
	s.put(&featureFlag{
		Key: "new-checkout", Name: "The checkout of one page", Enabled: true,
		Rules: []rule{
			{
				Segment:     "staff",
				Constraints: map[string]string{"role": "staff"},
				Variants:    []share{{"on", 100}},
			},
			{
				Segment:     "german-mobile",
				Constraints: map[string]string{"country": "de", "platform": "mobile"},
				Variants:    []share{{"on", 40}, {"with-help", 10}, {"off", 50}},
			},
		},
	})
	s.put(&featureFlag{Key: "dark-mode", Name: "Dark colours", Rules: []rule{}})
	return s
}
