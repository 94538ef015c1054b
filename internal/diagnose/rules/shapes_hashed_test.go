package rules_test

import (
	"testing"

	formattedtocompare "github.com/hone-go/hone/internal/diagnose/rules/formatted-to-compare"
)

// TestHashedShapes: a text of which only the hash remains, of values that were decoded or not.
func TestHashedShapes(t *testing.T) {
	const head = `import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"hash/fnv"
	"io"
)

type config struct{ Name string }

func (c *config) sorted() *config { return c }

var (
	_ = bytes.Equal
	_ = hmac.New
	_ = hex.EncodeToString
	_ = fnv.New64a
	_ io.Reader
	_ hash.Hash
)

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func encode(v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return out
}

func wrapped(v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return append(out, ' ')
}

func parse(text []byte) (*config, error) {
	c := &config{}
	if err := json.Unmarshal(text, c); err != nil {
		return nil, err
	}
	return c, nil
}

func load(text []byte) string {
	c := &config{}
	json.Unmarshal(text, c)
	return revision(c)
}`
	checkShapes(t, formattedtocompare.Rule(), head, "encoding/json.Marshal", 0, []shape{
		{"func F(text []byte) [32]byte {\n\tvar c config\n\tjson.Unmarshal(text, &c)\n\tout, _ := json.Marshal(c) @\n\treturn sha256.Sum256(out)\n}", "Hash text, the bytes that were received"},
		{"func F(text []byte) string {\n\tc, err := parse(text)\n\tif err != nil {\n\t\treturn \"\"\n\t}\n\tout, err := json.Marshal(c.sorted()) @\n\tif err != nil {\n\t\treturn \"\"\n\t}\n\treturn digest(out)\n}", "was just decoded from text, by parse"},
		{"func revision(c *config) string {\n\tout, err := json.Marshal(c.sorted()) @\n\tif err != nil {\n\t\treturn \"\"\n\t}\n\tsum := sha256.Sum256(out)\n\treturn hex.EncodeToString(sum[:])\n}", "Hash text, the bytes that were received"},
		{"func F(r io.Reader) uint64 {\n\tvar c config\n\tjson.NewDecoder(r).Decode(&c)\n\tout, _ := json.Marshal(&c) @\n\th := fnv.New64a()\n\th.Write(out)\n\treturn h.Sum64()\n}", "io.TeeReader(r, h)"},
		{"func F(c *config) uint64 {\n\th := fnv.New64a()\n\tout, _ := json.Marshal(c) @\n\tio.WriteString(h, string(out))\n\treturn h.Sum64()\n}", "Write the fields of c that decide"},
		{"func F(text []byte, name string) [32]byte {\n\tvar c config\n\tjson.Unmarshal(text, &c)\n\tc.Name = name\n\tout, _ := json.Marshal(c) @\n\treturn sha256.Sum256(out)\n}", "Write the fields of c that decide"},
		{"func F(a, b *config) bool {\n\tx, _ := json.Marshal(a) @\n\ty, _ := json.Marshal(b)\n\treturn bytes.Equal(x, y)\n}", "compares the parts of a"},
		{"func F(w io.Writer, c *config) [32]byte {\n\tout, _ := json.Marshal(c) @\n\tw.Write(out)\n\treturn sha256.Sum256(out)\n}", ""},
		{"func F(c *config) ([]byte, [32]byte) {\n\tout, _ := json.Marshal(c) @\n\treturn out, sha256.Sum256(out)\n}", ""},
		{"func F(c *config, key []byte) []byte {\n\tout, _ := json.Marshal(c) @\n\tm := hmac.New(sha256.New, key)\n\tm.Write(out)\n\treturn m.Sum(nil)\n}", ""},
		{"func F(c *config, h hash.Hash) {\n\tout, _ := json.Marshal(c) @\n\th.Write(out)\n}", ""},
		{"func F(c *config) bool {\n\tout, _ := json.Marshal(c) @\n\treturn string(out) == \"{}\"\n}", ""},
		{"func F(c *config, last *[]byte) bool {\n\tout, _ := json.Marshal(c) @\n\tsame := bytes.Equal(out, *last)\n\t*last = out\n\treturn same\n}", ""},
		{"func F(c *config) int {\n\tout, _ := json.Marshal(c) @\n\treturn len(out)\n}", ""},
	})
	checkShapes(t, formattedtocompare.Rule(), head+"\n\nfunc revision(*config) string { return \"\" }", "encoding/json.(*Encoder).Encode", 0, []shape{
		{"func F(c *config) []byte {\n\th := sha256.New()\n\tif err := json.NewEncoder(h).Encode(c); err != nil { @\n\t\treturn nil\n\t}\n\treturn h.Sum(nil)\n}", "Write the fields of c that decide"},
		{"func F(w io.Writer, c *config) error { return json.NewEncoder(w).Encode(c) } @", ""},
		{"func F(w io.Writer, c *config) []byte {\n\th := sha256.New()\n\tif err := json.NewEncoder(io.MultiWriter(w, h)).Encode(c); err != nil { @\n\t\treturn nil\n\t}\n\treturn h.Sum(nil)\n}", ""},
	})
	checkShapes(t, formattedtocompare.Rule(), head+"\n\nfunc revision(*config) string { return \"\" }", "main.encode encoding/json.Marshal", 0, []shape{
		{"func F(c *config) string { return digest(encode(c)) } @", "encode encodes c only to hash the text"},
		{"func F(text []byte) string {\n\tvar c config\n\tjson.Unmarshal(text, &c)\n\treturn digest(encode(c)) @\n}", "Hash text, the bytes that were received"},
		{"func F(c *config, w io.Writer) { w.Write(encode(c)) } @", ""},
		{"func F(c *config) string { return digest(wrapped(c)) } @", ""},
	})
}
