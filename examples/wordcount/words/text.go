package words

import (
	"math/rand/v2"
	"strings"
)

const (
	vocabulary   = 4000
	pageWords    = 1000
	meanSentence = 12 // words
)

// Text makes pages of made-up words. Few words are frequent and many are rare,
// as in real text; a seed gives the same pages every time.
type Text struct {
	random *rand.Rand
	ranks  *rand.Zipf
	words  []string
}

// NewText returns a source of pages.
func NewText(seed uint64) *Text {
	random := rand.New(rand.NewPCG(seed, 0))
	t := &Text{
		random: random,
		ranks:  rand.NewZipf(random, 1.1, 4, vocabulary-1),
		words:  make([]string, vocabulary),
	}
	for i := range t.words {
		t.words[i] = newWord(random)
	}
	return t
}

// newWord strings one to four syllables together.
func newWord(random *rand.Rand) string {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	var word strings.Builder
	for range 1 + random.IntN(4) {
		word.WriteByte(consonants[random.IntN(len(consonants))])
		word.WriteByte(vowels[random.IntN(len(vowels))])
	}
	return word.String()
}

// Page returns the next page: sentences that begin with a capital and end with a full stop.
func (t *Text) Page() string {
	var page strings.Builder
	begin := true
	for range pageWords {
		word := t.words[t.ranks.Uint64()]
		if begin {
			word = strings.ToUpper(word[:1]) + word[1:]
		}
		page.WriteString(word)
		if begin = t.random.IntN(meanSentence) == 0; begin {
			page.WriteByte('.')
		}
		page.WriteByte(' ')
	}
	return page.String()
}
