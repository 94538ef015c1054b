package screen

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

func screened(t testing.TB, ink Ink, pieces ...string) string {
	t.Helper()
	var out bytes.Buffer
	w := New(&out, ink)
	for _, p := range pieces {
		if n, err := w.Write([]byte(p)); n != len(p) || err != nil {
			t.Fatalf("Write returned %d, %v", n, err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestLine(t *testing.T) {
	for text, want := range map[string]string{
		"main.(*T).M µs – 世界 é":           "main.(*T).M µs – 世界 é",
		"":                                "",
		"a\x1b]0;title\x07b":              `a\x1b]0;title\x07b`,
		"\x1b]52;c;aGk=\x1b\\":            `\x1b]52;c;aGk=\x1b\`,
		"\x1b[2J\x1b[31mred":              `\x1b[2J\x1b[31mred`,
		"nul\x00 cr\r nl\n tab\t":         `nul\x00 cr\r nl\n tab\t`,
		"del\x7f c1\u009b2J":              `del\x7f c1\u009b2J`,
		"raw c1 \x9b2J, half \xe4\xb8":    `raw c1 \x9b2J, half \xe4\xb8`,
		"bidi \u202ereversed\u2066\u200f": `bidi \u202ereversed\u2066\u200f`,
		"ls\u2028ps\u2029nel\u0085":       `ls\u2028ps\u2029nel\u0085`,
		"zero\u200bwidth\ufeff":           `zero\u200bwidth\ufeff`,
		"tag\U000e0041 pua\ue000":         `tag\U000e0041 pua\ue000`,
		"filler\u3164 vs\ufe0f":           `filler\u3164 vs\ufe0f`,
		"nbsp\u00a0":                      `nbsp\u00a0`,
		"replaced \ufffd":                 "replaced \ufffd",
	} {
		if got := Line(text); got != want {
			t.Errorf("Line(%q) = %q, want %q", text, got, want)
		}
		if got := screened(t, "", strings.NewReplacer("\n", "", "\t", "").Replace(text)); got != strings.NewReplacer(`\n`, "", `\t`, "").Replace(want) {
			t.Errorf("the writer makes %q of %q, want %q", got, text, want)
		}
	}
}

func TestWriterKeepsLinesAndExpandsTabs(t *testing.T) {
	ink := NewInk()
	in := "a\tb\r\nµµ\tc\n" + ink.Paint(Bold, "bold") + "\tx\n\t\ty\rz\r"
	want := "a       b\nµµ      c\n\x1b[1mbold\x1b[0m    x\n                y\\rz\\r"
	if got := screened(t, ink, in); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for i := range len(in) {
		if got := screened(t, ink, in[:i], in[i:]); got != want {
			t.Errorf("cut at %d: got %q, want %q", i, got, want)
		}
	}
}

func TestOnlyOwnColoursPass(t *testing.T) {
	ink, other := NewInk(), NewInk()
	if ink == other {
		t.Fatal("two inks are the same")
	}
	own := ink.Paint(Green, "good")
	if got := screened(t, ink, own); got != "\x1b[32mgood\x1b[0m" {
		t.Errorf("own colour: %q", got)
	}
	for _, forged := range []string{
		"\x1b[32mgood\x1b[0m", other.Paint(Green, "good"), Ink("").Paint(Bold, "x"),
		"\x1b[" + string(ink) + ";5mblink", "\x1b[" + string(ink) + ";1Hmove", "\x1b[" + string(ink) + ";", "\x1b[" + string(ink[:20]),
	} {
		if got := screened(t, ink, forged); strings.Contains(got, "\x1b") {
			t.Errorf("%q passed as %q", forged, got)
		}
	}
	if got := screened(t, "", own); strings.Contains(got, "\x1b") {
		t.Errorf("colour without ink passed as %q", got)
	}
	if got := ansi.StringWidth(own); got != 4 {
		t.Errorf("a painted word of 4 columns takes %d", got)
	}
}

func TestPaintGoesLineByLine(t *testing.T) {
	if got, want := Ink("").Paint(Faint, "a\n\nb\n"), "\x1b[2ma\x1b[0m\n\n\x1b[2mb\x1b[0m\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCellKeepsColours(t *testing.T) {
	painted := NewInk().Paint(Cyan, "na\nme")
	if got, want := Cell(painted+"\t\x1b[2J"), strings.ReplaceAll(painted, "\n", `\n`)+`\t\x1b[2J`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestJSONIsSafeAndTheSame(t *testing.T) {
	value := map[string]string{"a\x7f": "\u202e \u009b2J \U000e0041 \ue000 é 世界 \x1b]0;x\x07 \u2028", "b": "plain"}
	for _, size := range []int{1, 2, 3, 1000} {
		var out bytes.Buffer
		w := JSON(&out)
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		for len(text) > 0 {
			n := min(size, len(text))
			if _, err := w.Write(text[:n]); err != nil {
				t.Fatal(err)
			}
			text = text[n:]
		}
		safe(t, out.String())
		back := map[string]string{}
		if err := json.Unmarshal(out.Bytes(), &back); err != nil {
			t.Fatalf("%v in %s", err, out.Bytes())
		}
		for k, v := range value {
			if back[k] != v {
				t.Errorf("%q became %q", v, back[k])
			}
		}
	}
}

// safe fails if text has anything that a terminal interprets, other than line ends and colours.
func safe(t testing.TB, text string) {
	t.Helper()
	text = regexp.MustCompile("\x1b\\[(0|1|2|31|32|36)m").ReplaceAllString(text, "")
	for i, r := range text {
		_, n := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && n == 1 || r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) || r == '\u2028' || r == '\u2029' {
			t.Fatalf("%q at %d of %q", text[i:i+n], i, text)
		}
	}
}

func FuzzEscape(f *testing.F) {
	f.Add("plain", 2, true)
	f.Add("\x1b]0;a\x07\x1b[31m\x00\t\u202e\xff\r\n\u2028", 5, true)
	f.Add("\r\n", 9, true)
	f.Add("\x1b[INK;1mforged\x1b[INK;0m \x1b[INK;1", 7, false)
	ink := NewInk()
	f.Fuzz(func(t *testing.T, text string, cut int, colour bool) {
		text = strings.ReplaceAll(text, "INK", "9"+string(ink[1:])) // nobody can guess it
		own := ink
		if !colour {
			own = ""
		}
		cut = max(0, min(cut, len(text)))
		got := screened(t, own, text[:cut], text[cut:])
		safe(t, got)
		if whole := screened(t, own, text); got != whole {
			t.Fatalf("cut at %d: %q, whole: %q", cut, got, whole)
		}
		if strings.Contains(got, "\x1b") && ink[0] != '9' {
			t.Fatalf("%q passed as %q", text, got)
		}
		line := Line(text)
		safe(t, line)
		if strings.Contains(line, "\n") || Line(line) != line {
			t.Fatalf("Line(%q) = %q", text, line)
		}
		if utf8.ValidString(text) && screened(t, "", line) != line {
			t.Fatalf("the writer changes %q", line)
		}
		var out bytes.Buffer
		encoded, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		w := JSON(&out)
		w.Write(encoded)
		safe(t, out.String())
		var back, plain string
		if json.Unmarshal(out.Bytes(), &back) != nil || json.Unmarshal(encoded, &plain) != nil || back != plain {
			t.Fatalf("%s is not the value of %s", out.Bytes(), encoded)
		}
	})
}

func BenchmarkWriter(b *testing.B) {
	text := []byte(strings.Repeat("  1.25 s  12.3%  main.(*server).handle · µs /src/main.go:17\n", 1000))
	w := New(discard{}, NewInk())
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		w.Write(text)
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
