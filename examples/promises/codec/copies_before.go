//go:build !fix_copies

package codec

import "bufio"

func putText(b *bufio.Writer, text string) {
	b.Write([]byte(text))
}
