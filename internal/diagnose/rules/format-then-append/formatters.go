package formatthenappend

import "strings"

// formatter is a function that returns a new string and has a variant that appends or writes.
type formatter struct {
	call    string // the type checker's name
	row     string // the name in profiles
	variant string
	// writer reports that the variant only writes to a writer, as fix says.
	writer bool
	fix    string
}

var formatters = []formatter{
	{call: "strconv.Itoa", row: "strconv.Itoa", variant: "strconv.AppendInt"},
	{call: "strconv.FormatInt", row: "strconv.FormatInt", variant: "strconv.AppendInt"},
	{call: "strconv.FormatUint", row: "strconv.FormatUint", variant: "strconv.AppendUint"},
	{call: "strconv.FormatFloat", row: "strconv.FormatFloat", variant: "strconv.AppendFloat"},
	{call: "strconv.Quote", row: "strconv.Quote", variant: "strconv.AppendQuote"},
	{call: "strconv.QuoteToASCII", row: "strconv.QuoteToASCII", variant: "strconv.AppendQuoteToASCII"},
	{call: "strconv.QuoteToGraphic", row: "strconv.QuoteToGraphic", variant: "strconv.AppendQuoteToGraphic"},
	{call: "strconv.QuoteRune", row: "strconv.QuoteRune", variant: "strconv.AppendQuoteRune"},
	{call: "(time.Time).Format", row: "time.Time.Format", variant: "Time.AppendFormat"},
	{call: "encoding/hex.EncodeToString", row: "encoding/hex.EncodeToString", variant: "hex.AppendEncode"},
	{call: "(*encoding/base64.Encoding).EncodeToString", row: "encoding/base64.(*Encoding).EncodeToString", variant: "Encoding.AppendEncode"},
	{call: "(*encoding/base32.Encoding).EncodeToString", row: "encoding/base32.(*Encoding).EncodeToString", variant: "Encoding.AppendEncode"},
	{call: "(net/netip.Addr).String", row: "net/netip.Addr.String", variant: "Addr.AppendTo"},
	{call: "(net/netip.AddrPort).String", row: "net/netip.AddrPort.String", variant: "AddrPort.AppendTo"},
	{call: "(net/netip.Prefix).String", row: "net/netip.Prefix.String", variant: "Prefix.AppendTo"},
	{call: "(*math/big.Int).String", row: "math/big.(*Int).String", variant: "Int.Append"},
	{call: "(*math/big.Int).Text", row: "math/big.(*Int).Text", variant: "Int.Append"},
	{call: "(*math/big.Float).Text", row: "math/big.(*Float).Text", variant: "Float.Append"},
	{call: "fmt.Sprintf", row: "fmt.Sprintf", variant: "fmt.Appendf"},
	{call: "fmt.Sprint", row: "fmt.Sprint", variant: "fmt.Append"},
	{call: "html.EscapeString", row: "html.EscapeString", writer: true, fix: replacer},
	{call: "text/template.HTMLEscapeString", row: "text/template.HTMLEscapeString", writer: true, fix: several},
	{call: "html/template.HTMLEscapeString", row: "html/template.HTMLEscapeString", writer: true, fix: several},
	{call: "text/template.JSEscapeString", row: "text/template.JSEscapeString", writer: true, fix: script},
	{call: "html/template.JSEscapeString", row: "html/template.JSEscapeString", writer: true, fix: script},
	{call: "(*strings.Replacer).Replace", row: "strings.(*Replacer).Replace", writer: true, fix: "Write directly with the Replacer's WriteString(w, text)."},
}

const (
	replacer = "Keep a strings.NewReplacer of the characters to escape in a package variable, and call its WriteString(w, text): it writes the parts of the text directly, without an allocation."
	several  = replacer + " HTMLEscapeString allocates several times for each text: a []byte, and a buffer that grows; html.EscapeString allocates at most once. For a text that is a []byte, template.HTMLEscape(w, text) writes directly."
	script   = "Write directly with template.JSEscape(w, text), which needs a []byte: the string and the buffer that grows are not needed."
)

// written reports whether a string is only written to writers, of the ways that package flow names.
func written(ways string) bool {
	for _, way := range strings.Split(strings.ReplaceAll(ways, " and ", ", "), ", ") {
		switch way {
		case "written out", "written to a buffer or writer", "printed to a writer":
		default:
			return false
		}
	}
	return true
}
