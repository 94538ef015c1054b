package exectrace

import (
	"context"
	"fmt"
	"sync/atomic"
)

// memory holds the payloads of a generation in pieces of one size: it grows without copies. A place in it is a
// number of 32 bits.
type memory struct {
	pool   *pool
	pieces [][]byte
	open   []int32 // by piece: how many of its batches the order has not passed
	at     int     // in the last piece
}

const (
	pieceBits = 20
	pieceSize = 1 << pieceBits // room for 15 of the largest batches

	// maxGeneration bounds what is held of one generation. Go makes one per second.
	maxGeneration = 1 << 30
)

// pad is how many zero bytes stand behind each payload, so that an event can be decoded without
// asking for its end at every byte: a type, a time and the most arguments, ten bytes each.
const pad = 64

// take returns room for a payload, with the pad behind it, and its place. It may wait for the order.
func (m *memory) take(ctx context.Context, size int) ([]byte, uint32, error) {
	if len(m.pieces) == 0 || m.at+size+pad > pieceSize {
		if len(m.pieces) >= maxGeneration/pieceSize {
			return nil, 0, fmt.Errorf("a generation of more than %d MiB", maxGeneration>>20)
		}
		p, err := m.pool.take(ctx, len(m.pieces))
		if err != nil {
			return nil, 0, err
		}
		m.pieces, m.open = append(m.pieces, p), append(m.open, 0)
		m.at = 0
	}
	last := len(m.pieces) - 1
	place := uint32(last)<<pieceBits | uint32(m.at)
	b := m.pieces[last][m.at:][:size+pad]
	clear(b[size:])
	m.at += size + pad
	m.open[last]++
	return b[:size], place, nil
}

// back gives the last payload back.
func (m *memory) back(size int) {
	m.at -= size + pad
	m.open[len(m.open)-1]--
}

// lend says that the order has the generation now.
func (m *memory) lend() {
	m.pool.lent = len(m.pieces)
	m.pool.held.Add(int32(len(m.pieces)))
}

// passed gives a piece of a large generation back to the pool when the order needs none of its batches any more.
func (m *memory) passed(place uint32) {
	i := place >> pieceBits
	if m.open[i]--; m.open[i] == 0 && len(m.pieces) > roomy {
		m.giveBack(int(i))
	}
}

// release gives back what is left: the pieces with tables, and those of a generation that was not read to its end.
func (m *memory) release() {
	for i, p := range m.pieces {
		if p != nil {
			m.giveBack(i)
		}
	}
	m.pieces, m.open = m.pieces[:0], m.open[:0]
}

func (m *memory) giveBack(i int) {
	m.pool.free <- m.pieces[i]
	m.pieces[i] = nil
	m.pool.held.Add(-1)
}

// piece returns the piece of a place, and where the place is in it.
func (m *memory) piece(place uint32) ([]byte, int) {
	return m.pieces[place>>pieceBits], int(place & (pieceSize - 1))
}

// bytes returns what is at a place.
func (m *memory) bytes(place uint32, size int) []byte {
	p, i := m.piece(place)
	return p[i:][:size]
}

// pool has the pieces of two generations. What the order has passed of a large one takes what is read of the next, so
// that both together need little more than the larger one.
type pool struct {
	free chan []byte  // has room for all
	held atomic.Int32 // pieces that the order has
	lent int          // how many it had at first
}

// roomy is how many pieces a generation may have for the next one to have as many of its own: the order and the
// reader, on a processor each, would take the lines of each other's caches, at a twentieth of the CPU time.
const roomy = 16

func newPool() *pool { return &pool{free: make(chan []byte, inMemory*maxGeneration/pieceSize)} }

// take returns a piece for a generation that has so many. It makes new ones for a quarter of what the order got, so
// that reading need not wait for it at once, and when the order has none.
func (p *pool) take(ctx context.Context, has int) ([]byte, error) {
	select {
	case b := <-p.free:
		return b, nil
	default:
	}
	if has <= max(roomy, p.lent/4) || p.held.Load() == 0 {
		return make([]byte, pieceSize), nil
	}
	select {
	case b := <-p.free:
		return b, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
