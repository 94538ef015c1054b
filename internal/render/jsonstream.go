package render

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/hone-go/hone/internal/screen"
)

// objectWriter writes a JSON object whose arrays may be too long to be held
// whole: the fields of a head, then arrays with an element a line. The first
// error stays.
type objectWriter struct {
	w    io.Writer
	line bytes.Buffer
	enc  *json.Encoder // into line
	some bool          // there are fields
	err  error
}

// newObjectWriter writes the fields of head, a struct with one at least, or nil.
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

// field begins a field; what is written next is its value.
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
