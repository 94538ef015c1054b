package main

import (
	"strings"
	"testing"
)

func TestUpgradeRight(t *testing.T) {
	for name, c := range map[string]struct {
		u    upgrade
		want bool
	}{
		"the known version":  {upgrade{Bad: "v1.0.0", Good: "v1.2.0", Named: "v1.2.0"}, true},
		"an older that does": {upgrade{Bad: "v1.0.0", Good: "v1.2.0", Named: "v1.1.0"}, true},
		"the first listed":   {upgrade{Bad: "v1.0.0", Good: "v1.2.0", Listed: "v1.4.0", Named: "v1.4.0"}, true},
		"newer than listed":  {upgrade{Bad: "v1.0.0", Good: "v1.2.0", Listed: "v1.4.0", Named: "v1.5.0"}, false},
		"newer than needed":  {upgrade{Bad: "v1.0.0", Good: "v1.2.0", Named: "v1.3.0"}, false},
		"none":               {upgrade{Bad: "v1.0.0", Good: "v1.2.0"}, false},
		"control, silent":    {upgrade{Bad: "v1.0.0"}, true},
		"control, named":     {upgrade{Bad: "v1.0.0", Named: "v1.1.0"}, false},
		"control, other":     {upgrade{Bad: "v1.0.0", Others: []string{"m@v2"}}, false},
	} {
		if c.u.right() != c.want {
			t.Errorf("%s: %t", name, c.u.right())
		}
	}
	page := string(upgradesPage(map[string]upgrade{"a": {Bad: "v1.0.0", Good: "v1.2.0", Named: "v1.2.0", Listed: "v1.3.0", Metric: "cpu", Ratio: 0.25}, "b": {Bad: "v1.0.0", Why: "nothing"}}, 30))
	for _, want := range []string{"1 of 1 upgrades found; none named for 1 of 1 controls. 2 of 30 cases", "cpu −75 %", "| v1.2.0 (v1.3.0) |", "| nothing |"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
}
