package rules_test

import (
	"testing"

	bigintperdigit "github.com/hone-go/hone/internal/diagnose/rules/bigint-per-digit"
	regexpofcharacters "github.com/hone-go/hone/internal/diagnose/rules/regexp-of-characters"
)

// TestBigintPerDigitShapes: loops that divide what the last division left, or multiply the last
// product, by a small constant; and other big numbers.
func TestBigintPerDigitShapes(t *testing.T) {
	const head = `import "math/big"

var radix, power, two = big.NewInt(58), big.NewInt(430804206899405824), big.NewInt(2)`
	checkShapes(t, bigintperdigit.Rule(), head, "math/big.(*Int).QuoRem", 0, []shape{
		{"func F(x, m *big.Int) {\n\tfor x.Sign() > 0 {\n\t\tx.QuoRem(x, radix, m) @\n\t}\n}", "Divide by 58^10"},
		{"func F(x, m *big.Int) {\n\tfor x.Sign() > 0 {\n\t\tq, _ := new(big.Int).QuoRem(x, radix, m) @\n\t\tx = q\n\t}\n}", "(*big.Int).Text with base 58"},
		{"func F(x, q, m *big.Int) {\n\tfor x.Sign() > 0 {\n\t\tq.QuoRem(x, radix, m) @\n\t\tx, q = q, x\n\t}\n}", "Divide by 58^10"},
		{"func F(x, q, m *big.Int) {\n\tfor x.Sign() > 0 {\n\t\tq.QuoRem(x, radix, m) @\n\t\tx.Set(q)\n\t}\n}", "Divide by 58^10"},
		{"func F(n, m *big.Int) {\n\tfor x := n; x.Sign() > 0; {\n\t\tx.QuoRem(x, radix, m) @\n\t}\n}", "Divide by 58^10"},
		{"func F(x, m *big.Int) {\n\tbase := big.NewInt(10)\n\tfor x.Sign() > 0 {\n\t\tx.QuoRem(x, base, m) @\n\t}\n}", "Divide by 10^19"},
		{"func F(x, m *big.Int) {\n\tfor x.Sign() > 0 {\n\t\tx.QuoRem(x, two, m) @\n\t}\n}", "from the bits of x.Bytes()"},
		{"func F(x *big.Int, out []byte) []byte {\n\tif x.Sign() == 0 {\n\t\treturn out\n\t}\n\tq, m := new(big.Int).QuoRem(x, radix, new(big.Int)) @\n\treturn append(f_N(q, out), byte(m.Int64()))\n}", "which calls itself for the next digit, divides the big.Int x by 58"},
		{"func F(x *big.Int, out []byte) []byte {\n\tif x.Sign() == 0 {\n\t\treturn out\n\t}\n\tq, m := new(big.Int).QuoRem(x, radix, new(big.Int)) @\n\treturn append(f_N(m, out), byte(q.Int64()))\n}", ""},
		{"func F(x, m *big.Int) { x.QuoRem(x, radix, m) } @", ""},
		{"func F(x, m *big.Int) {\n\tfor x.Sign() > 0 {\n\t\tx.QuoRem(x, power, m) @\n\t}\n}", ""},
		{"func F(x, y, m *big.Int) {\n\tfor x.Sign() > 0 {\n\t\tx.QuoRem(x, y, m) @\n\t}\n}", ""},
		{"func F(all []*big.Int, q, m *big.Int) {\n\tfor _, x := range all {\n\t\tq.QuoRem(x, radix, m) @\n\t}\n}", ""},
		{"func F(x, m *big.Int, n int) {\n\tfor range n {\n\t\tnew(big.Int).QuoRem(x, radix, m) @\n\t}\n}", ""},
		{"func F(n int64, m *big.Int) {\n\tx := big.NewInt(n)\n\tfor x.Sign() > 0 {\n\t\tx.QuoRem(x, radix, m) @\n\t}\n}", ""},
	})
	checkShapes(t, bigintperdigit.Rule(), head, "math/big.(*Int).Mul", 0, []shape{
		{"func F(x *big.Int, n int) {\n\tfor range n {\n\t\tx.Mul(x, radix) @\n\t}\n}", "multiply once by 58^10"},
		{"func F(x *big.Int, n int) {\n\tfor range n {\n\t\tx.Mul(radix, x) @\n\t}\n}", "(*big.Int).SetString with base 58"},
		{"func F(x, y *big.Int, n int) {\n\tfor range n {\n\t\tx.Mul(x, y) @\n\t}\n}", ""},
		{"func F(x, y *big.Int, n int) {\n\tfor range n {\n\t\ty.Mul(x, radix) @\n\t}\n}", ""},
	})
}

// TestRegexpOfCharactersShapes: patterns in variables, fields and parameters.
func TestRegexpOfCharactersShapes(t *testing.T) {
	const head = "import (\n\t\"regexp\"\n\t\"sync\"\n)\n" + `
const letters = "[a-z]+"

var (
	name  = regexp.MustCompile("^" + letters + "$")
	odd   = regexp.MustCompile("[^a-z0-9]")
	greek = regexp.MustCompile("^\\p{Greek}*$")
	date  = regexp.MustCompile("^\\d{4}-\\d{2}$")
	last  = regexp.MustCompile("^[a-z.]+\\.[a-z]+$")
	set   = regexp.MustCompile(letters)
	odds  = regexp.MustCompile("[^a-z0-9]+")
	space = regexp.MustCompile("\\s+")
	word  = regexp.MustCompile("\\w+")
	mail  = regexp.MustCompile("\\w+@\\w+")
)

var kinds = map[string]*regexp.Regexp{"name": name, "day": regexp.MustCompile("^[0-9]{8}$"), "host": last}

var shapes = map[string]*regexp.Regexp{"name": name, "day": regexp.MustCompile("^[0-9]{8}$")}

var grown = map[string]*regexp.Regexp{"name": name}

func add(re *regexp.Regexp) { grown["more"] = re }

var lazy = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^[a-z]*$") })

type checks struct{ by map[string]*regexp.Regexp }

func newChecks() *checks { return &checks{map[string]*regexp.Regexp{"name": name, "hex": regexp.MustCompile("^[0-9a-f]+$")}} }

func init() { set = regexp.MustCompile("^a$") }

type rule struct{ re *regexp.Regexp }

func newRule() *rule { return &rule{re: regexp.MustCompile("^[0-9a-f]{8}$")} }

func valid(re *regexp.Regexp, s string) bool { return re != nil && s != "" }`
	checkShapes(t, regexpofcharacters.Rule(), head, "regexp.(*Regexp).MatchString", 0, []shape{
		{"func F(s string) bool { return name.MatchString(s) } @", "loop over the bytes of s that returns false at the first that is not in the set, with comparisons or a lookup in a [256]bool. An empty text does not match."},
		{"func F(s string) bool { return odd.MatchString(s) } @", "Write strings.ContainsFunc(s, f)"},
		{"func F(s string) bool { return greek.MatchString(s) } @", "loop over the runes of s that returns false at the first that is not in the set, with comparisons or package unicode."},
		{"func F(s string) bool { return date.MatchString(s) } @", "goes through the bytes of s once, one set after the other"},
		{"func F(r *rule, s string) bool { return r.re.MatchString(s) } @", "Test that there are exactly 8."},
		{"func F(s string) bool {\n\tre := regexp.MustCompile(`^[A-Z]*$`)\n\treturn re.MatchString(s) @\n}", "with comparisons or"},
		{"func F(s string) bool { return last.MatchString(s) } @", ""},
		{"func F(s string) bool { return set.MatchString(s) } @", ""},
		{"func F(re *regexp.Regexp, s string) bool { return re.MatchString(s) } @", ""},
		{"func F(k, s string) bool { return shapes[k].MatchString(s) } @", "Each of 2 regular expressions"},
		{"func F(k, s string) bool {\n\tre, ok := shapes[k]\n\treturn ok && re.MatchString(s) @\n}", "Keep a function in place of each expression"},
		{"func F(s string) bool {\n\tfor _, re := range shapes {\n\t\tif re.MatchString(s) { return true } @\n\t}\n\treturn false\n}", "Each of 2 regular expressions"},
		{"func F(s string) bool { return kinds[\"day\"].MatchString(s) } @", "Test that there are exactly 8."},
		{"func F(c *checks, k, s string) bool {\n\tre := c.by[k]\n\treturn re.MatchString(s) @\n}", "Each of 2 regular expressions"},
		{"func F(s string) bool { return lazy().MatchString(s) } @", "Write a loop over the bytes"},
		{"func F(k, s string) bool { return kinds[k].MatchString(s) } @", ""},
		{"func F(k, s string) bool { return grown[k].MatchString(s) } @", ""},
	})
	checkShapes(t, regexpofcharacters.Rule(), head, "regexp.(*Regexp).ReplaceAllString", 64, []shape{
		{"func F(s string) string { return odds.ReplaceAllString(s, \"-\") } @", "loop over the bytes of s that appends what stays"},
		{"func F(s string) string { return odd.ReplaceAllString(s, \"\") } @", "Write strings.Map(f, s)"},
		{"func F(s string) string { return space.ReplaceAllString(s, \" \") } @", "join the words of strings.Fields(s)"},
		{"func F(s string) string { return odds.ReplaceAllString(s, \"<$0>\") } @", ""},
		{"func F(s string) string { return mail.ReplaceAllString(s, \"-\") } @", ""},
		{"func F(s, with string) string { return odds.ReplaceAllString(s, with) } @", ""},
	})
	checkShapes(t, regexpofcharacters.Rule(), head, "regexp.(*Regexp).Split", 64, []shape{
		{"func F(s string) []string { return space.Split(s, -1) } @", "Write strings.Fields(s)"},
		{"func F(s string) []string { return odds.Split(s, -1) } @", "Write strings.FieldsFunc(s, f)"},
		{"func F(s string) []string { return space.Split(s, 2) } @", ""},
		{"func F(s string) []string { return mail.Split(s, -1) } @", ""},
	})
	checkShapes(t, regexpofcharacters.Rule(), head, "regexp.(*Regexp).FindAllString", 64, []shape{
		{"func F(s string) []string { return word.FindAllString(s, -1) } @", "is not in the set; to iterate, FieldsFuncSeq"},
		{"func F(s string) []string { return word.FindAllString(s, 3) } @", ""},
	})
	checkShapes(t, regexpofcharacters.Rule(), head, "regexp.(*Regexp).FindString", 0, []shape{
		{"func F(s string) bool { return name.FindString(s) == s } @", "Write a loop over the bytes"},
		{"func F(s string) bool { return odd.FindString(s) == s } @", ""},
		{"func F(s string) bool { return name.FindString(s) == \"a\" } @", ""},
		{"func F(s string) string { return name.FindString(s) } @", ""},
	})
}
