package render

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/hone-go/hone/internal/screen"
)

// objectWriter writes a JSON object with arrays that may be too long to hold in memory: the fields
// of a head, then arrays with one element per line. It keeps the first error.
type objectWriter struct {
	w    io.Writer
	line bytes.Buffer
	enc  *json.Encoder // into line
	some bool          // a field has been written
	err  error
}

// newObjectWriter writes the fields of head, which is a struct with at least one field, or nil.
func newObjectWriter(w io.Writer, head any) *objectWriter {
	o := &objectWriter{w: screen.JSON(w), some: head != nil}
	o.enc = json.NewEncoder(&o.line)
	o.enc.SetEscapeHTML(false)
	o.enc.SetIndent("", "  ")
	if o.err = o.enc.Encode(head); head == nil {
		o.line.Reset()
		o.line.WriteString("{")
	}
	o.enc.SetIndent("", "")
	o.text(string(bytes.TrimSuffix(o.line.Bytes(), []byte("\n}\n"))))
	return o
}

func (o *objectWriter) text(s string) {
	if o.err == nil {
		_, o.err = io.WriteString(o.w, s)
	}
}

// field starts a field; its value must be written next.
func (o *objectWriter) field(name string) {
	if o.some {
		o.text(",")
	}
	o.some = true
	o.text("\n  \"" + name + "\": ")
}

// array writes a field with n elements.
func (o *objectWriter) array(name string, n int, element func(i int) any) {
	o.field(name)
	o.text("[")
	for i := 0; i < n && o.err == nil; i++ {
		o.line.Reset()
		if o.err = o.enc.Encode(element(i)); o.err != nil {
			return
		}
		if i > 0 {
			o.text(",")
		}
		o.text("\n    ")
		if o.err == nil {
			_, o.err = o.w.Write(bytes.TrimSuffix(o.line.Bytes(), []byte("\n")))
		}
	}
	if n > 0 {
		o.text("\n  ")
	}
	o.text("]")
}

// end closes the object and returns the first error.
func (o *objectWriter) end() error {
	o.text("\n}\n")
	return o.err
}
