package load

import (
	"encoding/binary"
	"hash/maphash"
	"sync/atomic"
)

// Bodies sums up the bodies of answers that are successes, if [Options.Bodies] is set.
type Bodies struct {
	Answers  int64 `json:"answers"`
	Bytes    int64 `json:"bytes"`    // as sent: compressed bodies count with their compressed size
	Compared int64 `json:"compared"` // answers to a request that was answered before
	Same     int64 `json:"same"`     // of these, those with the status and body of the answer before
	Gzipped  int64 `json:"gzipped"`  // answers that were compressed with gzip
	// Short are gzipped bodies whose content has less than ShortBody bytes. ShortPlain is the sum
	// of these sizes, and ShortBytes that of the compressed bodies.
	Short      int64 `json:"short"`
	ShortPlain int64 `json:"short_plain_bytes"`
	ShortBytes int64 `json:"short_bytes"`
}

// ShortBody is the size, in bytes, below which a content is short: it fits into a packet of a
// network without being compressed.
const ShortBody = 1 << 10

// comparedBody is the number of bytes at the start of a body that are compared.
const comparedBody = 64 << 10

// add adds the counts of o, which may be nil.
func (b *Bodies) add(o *Bodies) {
	if o == nil {
		return
	}
	b.Answers += o.Answers
	b.Bytes += o.Bytes
	b.Compared += o.Compared
	b.Same += o.Same
	b.Gzipped += o.Gzipped
	b.Short += o.Short
	b.ShortPlain += o.ShortPlain
	b.ShortBytes += o.ShortBytes
}

// lastBody is the body of the last answer to a request, as a hash; 0 before the first answer.
type lastBody struct {
	seed maphash.Seed
	hash atomic.Uint64
}

// rememberBodies makes requests remember the bodies of their answers.
func rememberBodies(reqs []request) {
	seed := maphash.MakeSeed()
	for i := range reqs {
		reqs[i].last = &lastBody{seed: seed}
	}
}

// seen describes the body of an answer that the reader has just read, and remembers it.
func (l *lastBody) seen(a *answer, r *reader) *Bodies {
	if a.status >= 400 {
		return nil
	}
	b := &Bodies{Answers: 1, Bytes: r.body}
	hash := maphash.Bytes(l.seed, r.sample) + uint64(a.status) + uint64(r.body)<<10 | 1
	if before := l.hash.Swap(hash); before != 0 {
		b.Compared = 1
		if before == hash {
			b.Same = 1
		}
	}
	if n := int64(len(r.sample)); a.gzip && n == r.body && n >= 18 {
		b.Gzipped = 1
		// The last four bytes of the format are the size of the content (RFC 1952, section 2.3.1).
		if plain := int64(binary.LittleEndian.Uint32(r.sample[n-4:])); plain < ShortBody {
			b.Short, b.ShortPlain, b.ShortBytes = 1, plain, n
		}
	} else if a.gzip {
		b.Gzipped = 1
	}
	return b
}
