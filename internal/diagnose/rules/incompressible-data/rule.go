// Package incompressibledata finds compressors whose input does not get smaller.
package incompressibledata

import (
	"fmt"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastBlocks is the minimum number of samples that build the codes of blocks. Without them it
	// is unknown how blocks were stored.
	leastBlocks = 8
	// mostMatched is the largest time for following repetitions, as a share of the search for them.
	// In texts it takes as long as the rest.
	mostMatched = 0.35
	// Writing a compressed block takes about as long as building its codes, and less if the block
	// is short. mostWritten is the largest share of that time if blocks are seen to be stored
	// instead, in leastStored samples.
	mostWritten = 0.25
	leastStored = 2
	// Storing a block may take too little time for a sample. Then mostOfLarge is the largest share,
	// for blocks so large that the search takes leastSearch times as long as the codes or longer:
	// thousands of bytes.
	mostOfLarge = 0.1
	leastSearch = 1.0
)

// Rule is incompressible-data.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "incompressible-data",
		Kind:  rule.CPU,
		Title: "Compressing data that does not get smaller",
		Doc:   doc,
		Finder: finder.Patterns{
			Claim: rule.Claim{
				// Some of the data does get smaller, and is still compressed.
				Fraction:    rule.Fraction{Expect: 0.75, Low: 0.4, High: 0.97},
				Specificity: 1,
			},
			Prepare: prepare,
		},
	}
}

const doc = `Images, archives, video and encrypted data have no repetitions left. A compressor
searches them at full cost, finds that a block would not get smaller, and stores
it unchanged. A middleware that compresses responses of all types, or image/*, and
an archive of photos with zip.Deflate, do that.

Compress only types that get smaller: text, JSON, XML, SVG. Add files that are
compressed already with zip.Store, and send such responses without compression.

So do services that compress every answer: one of 60 bytes becomes longer, one of
500 bytes fits into a packet anyway, and each takes 5 to 40 µs, because the
compressor builds its tables and codes for each answer. Compress answers of a
kilobyte and more.

It is fine if such data is rare. The rule reports lines below which compress/flate
finds few repetitions and builds codes for blocks that it hardly ever writes, and
those that compress answers of which the load saw that most are short.

Seen in the field: basecamp/thruster#137; skycoin/skywire#4772 (15 % of a service's
CPU for answers of one entry), nytimes/gziphandler#24.`

// What the compressor does with a block, as profiles name it.
const (
	search  = "compress/flate.(*compressor).deflate"
	match   = "compress/flate.(*compressor).findMatch"
	block   = "compress/flate.(*compressor).writeBlock"
	codes   = "compress/flate.(*huffmanBitWriter).indexTokens"
	written = "compress/flate.(*huffmanBitWriter).writeTokens"
	stored  = "compress/flate.(*huffmanBitWriter).writeBytes"
)

func prepare(p *rule.Pass) []finder.Line {
	lines := []finder.Line{storedBlocks(p)}
	if short, ok := shortAnswers(p); ok {
		lines = append(lines, short)
	}
	return lines
}

// storedBlocks finds compressors that store most blocks unchanged, as the profile shows.
func storedBlocks(p *rule.Pass) finder.Line {
	cpu := map[*site.Row]bool{}
	p.EachRow(func(r *site.Row) { cpu[r] = true })
	words := func(p *rule.Pass, m *rule.Match) bool {
		b := blocks(m.CPU)
		if !b.stay() {
			return false
		}
		m.Allocs, m.Live = nil, nil
		m.Callees = []string{"compress/*"}
		m.Confidence = rule.Likely // other data at the same line may get smaller
		m.Cause = "Most of the data that is compressed here does not get smaller, like data that is already compressed (images, archives) or encrypted: the compressor searches it, builds codes, and then stores the blocks unchanged."
		if where := sends(p, m.CPU); where != "" {
			m.Cause += " " + where + "."
		}
		at := m.Site.Function // that the profiles have
		adopt(p, m)
		m.Fix = "Compress only what gets smaller, such as text, JSON and SVG. Leave out image types other than SVG, archives and video; in a zip file, add them with zip.Store."
		m.Evidence = []rule.Evidence{{
			What: "CPU that builds codes of blocks, that writes blocks with them, and that stores blocks",
			Value: fmt.Sprintf("%s (%s), %s and %s", units.Seconds(float64(b.codes)*1e-9), units.Some(float64(b.coded), "sample"),
				units.Seconds(float64(b.written)*1e-9), units.Seconds(float64(b.stored)*1e-9)),
			Command: evidence.ListCommand(p, "cpu", at),
		}}
		return true
	}
	return finder.Line{
		Start: finder.Frames(func(r *site.Row) int {
			if !cpu[r] {
				return -1
			}
			return caller(r)
		}),
		Judge: func(c *finder.Case) bool { return words(c.Pass, c.Match) },
	}
}

// caller returns the index of the line that has data compressed: of the main module if it calls the
// compressor directly or through a dependency, otherwise of the dependency that is a handler of its
// own. It returns -1 for none, and for images: their encoders compress data that was not compressed
// before.
func caller(r *site.Row) int {
	deflates, dep := false, -1
	for i, f := range r.Stack {
		switch {
		case funcname.Match(f.Function, "compress/flate.(*compressor).*"):
			deflates = true
		case funcname.Match(f.Function, "image/*"):
			return -1
		case !deflates:
		case f.Owner.Kind == gocode.Main:
			return i
		case f.Owner.Kind == gocode.Dependency && dep < 0:
			dep = i
		case dep >= 0 && funcname.Match(f.Function, "net/http.*"):
			return dep
		}
	}
	return dep
}

// fates is what a compressor did with blocks, in nanoseconds of CPU.
type fates struct {
	searched, matched, codes, written, stored int64
	coded, kept                               int64 // samples of codes and stored
}

// blocks adds up what the compressor did in rows of CPU time.
func blocks(rows []*site.Row) (f fates) {
	for _, r := range rows {
		switch {
		case at(r, codes):
			f.codes, f.coded = f.codes+r.Value, f.coded+r.Count
		case at(r, written):
			f.written += r.Value
		case at(r, stored):
			f.stored, f.kept = f.stored+r.Value, f.kept+r.Count
		case at(r, block):
		case at(r, match):
			f.matched += r.Value
		case at(r, search):
			f.searched += r.Value
		}
	}
	return f
}

// at reports whether a function is in a row's stack.
func at(r *site.Row, function string) bool {
	return slices.ContainsFunc(r.Stack, func(f *site.Frame) bool { return f.Function == function })
}

// stay reports whether most blocks stay as large as they were.
func (f fates) stay() bool {
	if f.coded < leastBlocks || float64(f.matched) > mostMatched*float64(f.searched) {
		return false
	}
	share := float64(f.written) / float64(f.codes)
	return f.kept >= leastStored && share <= mostWritten || share <= mostOfLarge && float64(f.searched) >= leastSearch*float64(f.codes)
}
