package exectrace

import (
	"context"
	"fmt"
	"sync/atomic"
)

// memory holds the payloads of a generation in pieces of one size, so that it grows without copies.
// A place in it is a 32-bit number.
type memory struct {
	pool   *pool
	pieces [][]byte
	open   []int32 // by piece: the number of batches that the order has not passed
	at     int     // offset of the free space in the last piece
}

const (
	pieceBits = 20
	pieceSize = 1 << pieceBits // room for 15 of the largest batches

	// maxGeneration bounds the memory of one generation. Go writes one generation per second.
	maxGeneration = 1 << 30
)

// pad is the number of zero bytes after each payload. It makes bounds checks at every byte of an
// event unnecessary: a type, a time and the maximum number of arguments, ten bytes each.
const pad = 64

// take returns memory for a payload, followed by the pad, and its place. It may wait for the order
// to release memory.
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

// back releases the memory of the last payload.
func (m *memory) back(size int) {
	m.at -= size + pad
	m.open[len(m.open)-1]--
}

// lend records that the order now uses the generation.
func (m *memory) lend() {
	m.pool.lent = len(m.pieces)
	m.pool.held.Add(int32(len(m.pieces)))
}

// passed returns a piece of a large generation to the pool when the order no longer needs any of
// its batches.
func (m *memory) passed(place uint32) {
	i := place >> pieceBits
	if m.open[i]--; m.open[i] == 0 && len(m.pieces) > roomy {
		m.giveBack(int(i))
	}
}

// release returns the remaining pieces to the pool: those with tables, and those of a generation
// that was not read to its end.
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

// piece returns the piece that contains a place, and the offset in it.
func (m *memory) piece(place uint32) ([]byte, int) {
	return m.pieces[place>>pieceBits], int(place & (pieceSize - 1))
}

// bytes returns the bytes at a place.
func (m *memory) bytes(place uint32, size int) []byte {
	p, i := m.piece(place)
	return p[i:][:size]
}

// pool holds the pieces of two generations. The pieces of a large generation that the order has
// passed are reused for the next one while it is read, so that both together need little more
// memory than the larger one.
type pool struct {
	free chan []byte  // capacity for all pieces
	held atomic.Int32 // number of pieces that the order uses
	lent int          // number of pieces that the order got at first
}

// roomy is the number of pieces up to which a generation does not share pieces with the next one.
// Order and reader run on different processors; sharing would move cache lines between them, which
// costs about 5 % of the CPU time.
const roomy = 16

func newPool() *pool { return &pool{free: make(chan []byte, inMemory*maxGeneration/pieceSize)} }

// take returns a piece for a generation that already has the given number of pieces. It allocates
// up to a quarter of the number of pieces that the order got, so that reading need not wait for the
// order immediately. It also allocates if the order has none.
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
