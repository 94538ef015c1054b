package formattedtoparse

import (
	"fmt"
	"go/ast"
	"go/types"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// times returns the words for a text that becomes a time.
func times(p *gocode.Place, in *ast.CallExpr, at *gocode.Place, out *ast.CallExpr, formatter string) (value, fix string) {
	zone := "time.UTC"
	if len(in.Args) == 3 {
		zone = syntax.Text(in.Args[2])
	}
	if formatter == "fmt.Sprintf" && len(out.Args) > 3 {
		for _, arg := range out.Args[1:] {
			if !isKind(at, arg, types.IsInteger) {
				return "", ""
			}
		}
		return "its parts", fmt.Sprintf("Call time.Date(year, month, day, hour, minute, second, 0, %s) with the numbers. It normalizes values outside of their ranges, where Parse returns an error.", zone)
	}
	of := syntax.Receiver(out)
	if formatter != "(time.Time).Format" || of == nil || len(out.Args) != 1 || len(in.Args) < 2 {
		return "", ""
	}
	value = syntax.Text(of)
	layout, ok := syntax.ConstString(at, out.Args[0])
	if !ok {
		if at != p || !syntax.Same(p, in.Args[0], out.Args[0]) {
			return "", ""
		}
		return value, fmt.Sprintf("Cut %s to what the layout has: Truncate for a second or a minute, time.Date for a day.", value)
	}
	if parsed, ok := syntax.ConstString(p, in.Args[0]); !ok || parsed != layout {
		return "", ""
	}
	switch t := time.Date(2001, 2, 3, 14, 5, 6, 0, time.UTC); {
	case t.Format(layout) == t.AddDate(1, 0, 0).Format(layout):
		return value, fmt.Sprintf("Take the parts from %s itself: its methods Clock, Month, Day and Weekday return them as numbers.", value)
	case t.Format(layout) == t.Add(time.Hour).Format(layout):
		day := "d"
		if t.Format(layout) == t.AddDate(0, 0, 1).Format(layout) {
			day = "1"
		}
		return value, fmt.Sprintf("Write y, m, d := %s.Date() and time.Date(y, m, %s, 0, 0, 0, 0, %s).", value, day, zone)
	case t.Format(layout) == t.Add(time.Second).Format(layout):
		return value, fmt.Sprintf("Write %s.Truncate(time.Minute), with In for the zone.", value)
	case t.Format(layout) == t.Add(time.Millisecond).Format(layout):
		return value, fmt.Sprintf("Write %s.Truncate(time.Second), with In for the zone.", value)
	}
	return value, fmt.Sprintf("Use %s itself, with In for the zone and Round(0) to drop the monotonic clock.", value)
}

// numbers returns the words for a text that becomes a number or a bool.
func numbers(p *gocode.Place, in *ast.CallExpr, parser string, at *gocode.Place, out *ast.CallExpr, formatter string) (value, fix string) {
	if strings.HasPrefix(parser, "strconv.ParseInt") || strings.HasPrefix(parser, "strconv.ParseUint") {
		if base, ok := syntax.ConstInt(p, in.Args[1]); !ok || base != 10 && base != 0 {
			return "", ""
		}
	}
	of, form, places := formatted(at, out, formatter)
	if of == nil {
		if formatter == "fmt.Sprintf" && form != "" && parser != "strconv.ParseFloat" {
			return "its parts", "Compute the number from its parts: multiply each one by the power of ten of its place, and add."
		}
		return "", ""
	}
	value = syntax.Text(of)
	if (form == "%v" || form == "%s") && named(at.TypeOf(of)) != "" && !types.IsInterface(at.TypeOf(of)) {
		return "", "" // of a type with a String method, maybe
	}
	switch {
	case formatter == "(time.Time).Format":
		if parser == "strconv.ParseFloat" {
			return "", ""
		}
		return value, fmt.Sprintf("Compute the number: y, m, d := %s.Date() and y*10000 + int(m)*100 + d for a day, Hour and Minute for the time; a method such as Year, Month or YearDay returns one part.", value)
	case isKind(at, of, types.IsFloat) && parser == "strconv.ParseFloat" && places >= 0:
		scale := "1"
		if places > 0 {
			scale = "1e" + strconv.Itoa(places)
		}
		if places == 0 {
			return value, fmt.Sprintf("Round without a text: math.Round(%s), or math.RoundToEven, which rounds halves as the text does.", value)
		}
		return value, fmt.Sprintf("Round without a text: math.Round(%s*%s) / %s. Amounts of money are best kept as integers of the smallest unit.", value, scale, scale)
	case isKind(at, of, types.IsFloat) && parser == "strconv.ParseFloat":
		if isFloat32(at, of) {
			return "", "" // the shortest text of a float32 is another float64
		}
		return value, fmt.Sprintf("Use %s itself: the text has all its digits.", value)
	case isKind(at, of, types.IsFloat):
		return value, fmt.Sprintf("Convert the number: int64(math.Round(%s)), or math.Trunc.", value)
	case isKind(at, of, types.IsInteger):
		return value, fmt.Sprintf("Convert the number: T(%s).", value)
	case isKind(at, of, types.IsString):
		return value, fmt.Sprintf("Parse %s itself: it is a text already.", value)
	case isKind(at, of, types.IsBoolean):
		return value, fmt.Sprintf("Use %s itself.", value)
	case types.IsInterface(at.TypeOf(of)):
		return value, fmt.Sprintf("Use a type switch on %s, with a case for each kind of number, and parse only strings.", value)
	}
	return "", ""
}

var verb = regexp.MustCompile(`^%(?:[+0]*\d*(?:\.(\d+))?f|[+0]*\d*d|v|s|g|t)$`)

// formatted returns the only value that a call formats, as a number in base 10 or a word, how, and
// the number of decimal places (-1: all). of is nil for other calls; form says that a format has
// only integers, without a separator.
func formatted(p *gocode.Place, out *ast.CallExpr, formatter string) (of ast.Expr, form string, places int) {
	places = -1
	switch formatter {
	case "fmt.Sprint":
		if len(out.Args) == 1 && !out.Ellipsis.IsValid() {
			return out.Args[0], "%v", places
		}
	case "strconv.Itoa", "strconv.FormatBool":
		return out.Args[0], "%d", places
	case "strconv.FormatInt", "strconv.FormatUint":
		if base, ok := syntax.ConstInt(p, out.Args[1]); ok && base == 10 {
			return out.Args[0], "%d", places
		}
	case "strconv.FormatFloat":
		n, ok := syntax.ConstInt(p, out.Args[2])
		if form, isConst := syntax.ConstInt(p, out.Args[1]); ok && isConst && (form == 'f' || n < 0) {
			return out.Args[0], "%f", int(n)
		}
	case "(time.Time).Format":
		if layout, ok := syntax.ConstString(p, out.Args[0]); ok && onlyDigits(layout) {
			return syntax.Receiver(out), layout, places
		}
	case "fmt.Sprintf":
		form, ok := syntax.ConstString(p, out.Args[0])
		if !ok || out.Ellipsis.IsValid() {
			return nil, "", places
		}
		if m := verb.FindStringSubmatch(form); m != nil && len(out.Args) == 2 {
			if strings.HasSuffix(form, "f") {
				if places = 6; m[1] != "" {
					places, _ = strconv.Atoi(m[1])
				}
			}
			return out.Args[1], form, places
		}
		if integers.MatchString(form) {
			return nil, form, places
		}
	}
	return nil, "", places
}

var integers = regexp.MustCompile(`^(?:%0?\d*d){2,}$`)

// onlyDigits reports whether a layout of time formats digits alone.
func onlyDigits(layout string) bool {
	text := time.Date(2001, 2, 3, 14, 5, 6, 0, time.UTC).Format(layout)
	return text != "" && strings.Trim(text, "0123456789") == ""
}

func isKind(p *gocode.Place, e ast.Expr, kind types.BasicInfo) bool {
	t := p.TypeOf(e)
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&kind != 0
}

func isFloat32(p *gocode.Place, e ast.Expr) bool {
	b, ok := p.TypeOf(e).Underlying().(*types.Basic)
	return ok && b.Kind() == types.Float32
}
