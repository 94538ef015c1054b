package profile

import "io"

// Inflate returns the decompressed bytes of r: gzip, zstd or uncompressed, which it recognizes by
// the first bytes. The limits are those of Decode (0 = DefaultMaxBytes), including those on
// decompression bombs. It is for formats other than protobuf that may be compressed in the same
// ways. The caller closes the result.
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
