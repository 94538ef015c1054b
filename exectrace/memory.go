package exectrace

import "fmt"

// memory holds the payloads of a generation in pieces of one size: it grows without copies, and
// is used again for a later generation. A place in it is a number of 32 bits.
type memory struct {
	pieces [][]byte
	used   int // of the pieces
	at     int // in the last used piece
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

// take returns room for a payload, with the pad behind it, and its place.
func (m *memory) take(size int) ([]byte, uint32, error) {
	if m.used == 0 || m.at+size+pad > pieceSize {
		if m.used >= maxGeneration/pieceSize {
			return nil, 0, fmt.Errorf("a generation of more than %d MiB", maxGeneration>>20)
		}
		if m.used == len(m.pieces) {
			m.pieces = append(m.pieces, make([]byte, pieceSize))
		}
		m.used++
		m.at = 0
	}
	place := uint32(m.used-1)<<pieceBits | uint32(m.at)
	b := m.pieces[m.used-1][m.at:][:size+pad]
	clear(b[size:])
	m.at += size + pad
	return b[:size], place, nil
}

// back gives the last payload back.
func (m *memory) back(size int) { m.at -= size + pad }

func (m *memory) reset() { m.used, m.at = 0, 0 }

// piece returns the piece of a place, and where the place is in it.
func (m *memory) piece(place uint32) ([]byte, int) {
	return m.pieces[place>>pieceBits], int(place & (pieceSize - 1))
}

// bytes returns what is at a place.
func (m *memory) bytes(place uint32, size int) []byte {
	p, i := m.piece(place)
	return p[i:][:size]
}
