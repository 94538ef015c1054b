package textual

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/hone-go/hone/profile"
)

// Go's block ("contention") and mutex text: cycles waited and number of events. The header of mutex
// profiles says that one event in so many was sampled.
//
//	--- mutex:
//	cycles/second=1999997532
//	sampling period=5
//	125975220 1 @ 0x4dcdf1 0x4dcdf0 0x44cd95 0x4845c1

func isContention(head []string) bool {
	h := strings.TrimSpace(head[0])
	return h == "--- mutex:" || h == "--- contention:"
}

func readContention(r *reader) (*profile.Profile, error) {
	r.nextFull()
	hz, period, err := r.contentionHeader()
	if err != nil {
		return nil, err
	}
	count := profile.ValueType{Type: "contentions", Unit: "count"}
	b := profile.NewBuilder(count, profile.ValueType{Type: "delay", Unit: "nanoseconds"})
	_, err = r.goRecords(func(rec *goRecord) error {
		f := strings.Fields(rec.values)
		if len(f) != 2 {
			return fmt.Errorf("%s: want CYCLES COUNT", shorten(rec.values))
		}
		var n [2]int64
		for i, s := range f {
			if n[i], err = strconv.ParseInt(s, 10, 64); err != nil || n[i] < 0 {
				return fmt.Errorf("%s: want CYCLES COUNT", shorten(rec.values))
			}
		}
		delay := int64(float64(n[0]) * float64(period) / (float64(hz) / 1e9)) // rounded as google/pprof rounds it
		b.AddLabeled(rec.stack(), rec.labels, n[1]*period, delay)
		return nil
	})
	if err != nil {
		return nil, err
	}
	p, err := b.Profile()
	if err != nil {
		return nil, err
	}
	p.PeriodType, p.Period = count, period
	return p, nil
}

// contentionHeader reads the lines KEY=NUMBER before the records.
func (r *reader) contentionHeader() (hz, period int64, err error) {
	period = 1
	for r.nextFull() {
		key, value, ok := strings.Cut(r.text, "=")
		if !ok || strings.HasPrefix(r.text, "#") || strings.Contains(r.text, "@") {
			r.back()
			break
		}
		n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		if err != nil || n <= 0 {
			return 0, 0, fmt.Errorf("%s: want a positive number", shorten(r.text))
		}
		switch strings.TrimSpace(key) {
		case "cycles/second":
			hz = n
		case "sampling period":
			period = n
		default:
			return 0, 0, fmt.Errorf("%s: not in Go's profiles", shorten(r.text))
		}
	}
	if r.err == nil && hz == 0 {
		return 0, 0, errors.New("there is no cycles/second, so cycles cannot be converted to time")
	}
	return hz, period, nil
}
