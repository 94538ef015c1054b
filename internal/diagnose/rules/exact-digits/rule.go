// Package exactdigits finds exact decimals and fractions that get longer with each calculation.
package exactdigits

import (
	"fmt"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastBytes is the mean size of a new big integer from which on numbers are long: 64 bytes are
	// 154 digits. An amount of money in any currency has less than 30.
	leastBytes = 64
	// leastObjects in the heap profile, for the mean.
	leastObjects = 1000
)

// Rule is exact-digits.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "exact-digits",
		Kind:  rule.CPU,
		Title: "Exact decimals or fractions that get longer with each calculation",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// What numbers of two words cost depends on the calculation.
				Fraction:    rule.Fraction{Expect: 0.75, Low: 0.4, High: 0.95},
				Specificity: 2, // it says why the calls of the line take long
				Removes:     true,
			},
			Start: finder.Frames(caller),
			Judge: judge,
		},
	}
}

const doc = `decimal.Decimal of shopspring and big.Rat calculate exactly: a
product has the digits of both factors together, a sum of fractions the product
of their denominators. A balance that is multiplied by a rate month after month
grows by the digits of the rate each time, and each multiplication and each
change of the exponent works on all of them.

Round where the result is kept: Round(10) or RoundBank after each step, or as
many places as the domain needs. Instead of a big.Rat, use a big.Float with a
precision, or integers of the smallest unit.

It is fine where all digits are wanted. The rule reports lines whose new numbers
in the heap profile have 64 bytes or more on average: more than 150 digits.

Seen in the field: shopspring/decimal#381.`

// exact are the functions whose results can have more digits than their operands, as profiles name
// them.
func exact() []string {
	return []string{"github.com/shopspring/decimal.Decimal.*", "math/big.(*Rat).*"}
}

// caller returns the index of the program's line that calculates exactly; -1 for none.
func caller(r *site.Row) int {
	inside := false
	for i, f := range r.Stack {
		inside = inside || funcname.Match(f.Function, exact()...)
		if inside && f.Owner.Kind == gocode.Main {
			return i
		}
	}
	return -1
}

func judge(c *finder.Case) bool {
	var bytes, objects int64
	for _, r := range c.Allocs {
		if strings.HasPrefix(r.Stack[0].Function, "math/big.nat.") {
			bytes, objects = bytes+r.Value, objects+r.Count
		}
	}
	if objects < leastObjects || float64(bytes) < leastBytes*float64(objects) {
		return false
	}
	each := float64(bytes) / float64(objects)
	c.Callees = append(exact(), "math/big.*")
	c.Cause = fmt.Sprintf("The exact numbers here are long: a new one has %s on average, about %s digits. Each product has the digits of both factors, and nothing rounds it, so that numbers get longer with each step.",
		units.Bytes(each), units.Number(each*8/3.32))
	c.Fix = "Round the result of each step where it is kept, not only where it is shown, to the places that are needed (Round or RoundBank of a decimal.Decimal). Instead of a big.Rat, use a big.Float with a precision or integers of the smallest unit."
	c.Confidence = rule.Likely
	c.Evidence = append(c.Evidence, rule.Evidence{
		What: "memory of new big integers", Value: fmt.Sprintf("%s in %s", units.Bytes(float64(bytes)), units.Some(float64(objects), "object")),
		Command: evidence.ListCommand(c.Pass, "alloc_space", c.Site.Function),
	})
	return true
}
