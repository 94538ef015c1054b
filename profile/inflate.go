package profile

import "io"

// Inflate returns the bytes of r without their compression: gzip, zstd or none,
// which the first bytes tell. It bounds them as Decode does (0 =
// DefaultMaxBytes) and refuses the same bombs. It is for formats beside
// protobuf that come in the same wrapping. The caller closes it.
func Inflate(r io.Reader, maxBytes int64) (io.ReadCloser, error) {
	w, err := openWindow(r, maxBytes)
	if err != nil {
		return nil, err
	}
	return inflated{w}, nil
}

type inflated struct{ w *window }

func (f inflated) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	switch n, err := f.w.want(1); {
	case err != nil:
		return 0, err
	case n == 0:
		return 0, io.EOF
	}
	n := copy(b, f.w.buf[f.w.lo:f.w.hi])
	f.w.lo += n
	return n, nil
}

func (f inflated) Close() error {
	f.w.stop()
	return nil
}
