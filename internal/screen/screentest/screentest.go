// Package screentest has the text that a page must survive, for tests of what hone prints.
package screentest

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// Text is a name as an attacker would choose it: it begins a line of its own, sets the title, fills
// the clipboard, clears the screen, colours what follows, turns the direction of writing.
const Text = "ev\nFORGED\til\r\x1b]0;title\x07\x1b]52;c;aGk=\x1b\\\x1b[2J\x1b[1mbold\x1b[0m\x00\x7f\u009b2J\u202eabc\u2066\u2028\u200b\xff\x9b"

// Valid is Text in valid UTF-8, for formats that hold nothing else.
var Valid = strings.ToValidUTF8(Text, "")

// FileName is Text as the name of a file.
var FileName = strings.NewReplacer("\x00", "", "/", "").Replace(Valid)

// sgr are the renditions of hone's own.
var sgr = regexp.MustCompile("\x1b\\[(0|1|2|31|32|36)m")

// Check fails if out has a byte that a terminal obeys, or if a line starts with FORGED, because a
// line end in Text was printed. It accepts line ends, and hone's own colours if allowed.
func Check(t testing.TB, what, out string, colours bool) {
	t.Helper()
	if colours {
		out = sgr.ReplaceAllString(out, "")
	}
	for i, r := range out {
		_, n := utf8.DecodeRuneInString(out[i:])
		invalid := r == utf8.RuneError && n == 1
		if invalid || r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)) {
			t.Errorf("%s prints %q: …%q", what, out[i:i+n], out[max(0, i-60):min(len(out), i+20)])
			return
		}
	}
	if i := strings.Index("\n"+out, "\nFORGED"); i >= 0 {
		t.Errorf("%s: a line end in a name ends the line: …%q", what, out[max(0, i-80):min(len(out), i+20)])
	}
}

// Fill puts text in every string that v points to, and something in every number, list and map, so
// that a page has a reason to show it. Unexported fields are not changed.
func Fill(v any, text string) { fill(reflect.ValueOf(v).Elem(), text, 0) }

func fill(v reflect.Value, text string, depth int) {
	if depth > 12 || !v.CanSet() {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if v.Int() == 0 {
			v.SetInt(1)
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if v.Uint() == 0 {
			v.SetUint(1)
		}
	case reflect.Float32, reflect.Float64:
		if v.Float() == 0 {
			v.SetFloat(0.5)
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		fill(v.Elem(), text, depth+1)
	case reflect.Slice:
		if v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		}
		for i := range v.Len() {
			fill(v.Index(i), text, depth+1)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), text, depth+1)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, text, depth+1)
		fill(value, text, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), text, depth+1)
			}
		}
	}
}
