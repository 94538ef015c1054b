package exectrace

// uvarint decodes the LEB128 number at d[i] and returns the index after it. A number of more than
// ten bytes ends after ten.
func uvarint(d []byte, i int) (uint64, int) {
	v := uint64(d[i])
	if i++; v >= 0x80 {
		return uvarintRest(d, i, v)
	}
	return v, i
}

// uvarintRest decodes numbers of more than one byte. The branch predictor mostly predicts the end
// of its loop, because an argument of an event usually has as many bytes as the last one. That is
// faster than decoding without branches, where each number waits for the previous one.
func uvarintRest(d []byte, i int, v uint64) (uint64, int) {
	b := d[i]
	i++
	v = v&0x7f | uint64(b&0x7f)<<7
	if b < 0x80 {
		return v, i
	}
	for shift := 14; shift < 70; shift += 7 {
		b = d[i]
		i++
		v |= uint64(b&0x7f) << (shift & 63)
		if b < 0x80 {
			break
		}
	}
	return v, i
}

// uvarint2 decodes two numbers.
func uvarint2(d []byte, i int) (v, w uint64, next int) {
	v = uint64(d[i])
	if i++; v >= 0x80 {
		v, i = uvarintRest(d, i, v)
	}
	w = uint64(d[i])
	if i++; w >= 0x80 {
		w, i = uvarintRest(d, i, w)
	}
	return v, w, i
}

// uvarint3 decodes three numbers.
func uvarint3(d []byte, i int) (v, w, x uint64, next int) {
	v = uint64(d[i])
	if i++; v >= 0x80 {
		v, i = uvarintRest(d, i, v)
	}
	w = uint64(d[i])
	if i++; w >= 0x80 {
		w, i = uvarintRest(d, i, w)
	}
	x = uint64(d[i])
	if i++; x >= 0x80 {
		x, i = uvarintRest(d, i, x)
	}
	return v, w, x, i
}
