package inputs_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/hone-go/hone/internal/inputs"
)

var sources = []inputs.Source{{Name: "main.a", Line: 3, Params: 2}, {Name: "main.b", Line: 9}}

func TestParse(t *testing.T) {
	c, err := inputs.Parse([]byte("requests 10 4 6\n1 5 5 1 1 0 0 0 0 0 0 0 0 0 0 0 1 0 0 0\n0 90 80 64 70 30 10 9 8 7 6 5 4 3 2 1 8 3 0 2 0 0 0 0 0 0 0 0 0 0 0 0 0 0 9 2 0 0 8 7 0 0\nsite 0 12 5 4 0 0 3 3 0 0 /a b.go\nsite 0 7 4 1 /a b.go\ngiven 0 1 90 10 4000 80 70 0 20 3000 100 7 5\nreturned 0 0 80 0 4000 80 70 60 0 0 0 0 0\nalso 0 1 3\nalso 1 0 8\n"), sources)
	if err != nil {
		t.Fatal(err)
	}
	want := &inputs.Counts{Requests: 10, Targets: 4, Iterations: 6, Functions: []inputs.Function{
		{Name: "main.b", Line: 9, Calls: 5, Hashed: 5, Different: 1, Identical: 1, Stopped: true, Params: []inputs.Taken{}},
		{Name: "main.a", Line: 3, Calls: 90, Hashed: 80, Different: 64, Identical: 70, InRequest: 30, PerRequest: 10,
			Stable: 9, StablePerRequest: 8, Texts: 7, DifferentTexts: 6, TextsInRequest: 5, TextsPerRequest: 4, Compared: 3, Same: 2, Overlapping: 1,
			Stopped: true, StoppedAfter: 7, Targets: 3,
			Params: []inputs.Taken{inputs.ByValue, inputs.NotTaken}, Again: []inputs.Again{{Calls: 9, Same: 2}, {Calls: 0, Same: 0}, {Calls: 8, Same: 7}},
			Given:    []inputs.Values{{}, {Seen: 90, Empty: 10, Length: 4000, Texts: 80, ASCII: 70, Grown: 20, GrownBytes: 3000, NewBytes: 100, Fed: 7, Rest: 5}},
			Returned: []inputs.Values{{Seen: 80, Length: 4000, Texts: 80, ASCII: 70, Unchanged: 60}},
			Sites:    []inputs.Site{{File: "/a b.go", Line: 7, Again: []inputs.Again{{Calls: 4, Same: 1}}}, {File: "/a b.go", Line: 12, Again: []inputs.Again{{Calls: 5, Same: 4}, {}, {Calls: 3, Same: 3}}}}},
	}, Pairs: []inputs.Pair{{First: "main.b", Then: "main.a", Times: 8}, {First: "main.a", Then: "main.b", Times: 3}}}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got %+v\nwant %+v", c, want)
	}
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	again, err := inputs.Read(data)
	if err != nil || !reflect.DeepEqual(again, c) {
		t.Errorf("read again: %+v, %v", again, err)
	}
	if f := c.Of("main.b"); f == nil || f.Calls != 5 || f.ByValue() {
		t.Errorf("main.b: %+v", f)
	}
	if c.Of("main.c") != nil || (*inputs.Counts)(nil).Of("main.a") != nil {
		t.Error("a function that was not watched has figures")
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{
		"0 1 1 1 1 0 0", "requests", "requests 1 2", "requests 1 x 0", "requests 1 2 0\n2 1 1 1 1 0 0 0 0 0 0 0 0 0 0", "requests 1 2 0\n0 1", "requests 1 2 0\n0 1 1 1 1 0 -4 0 0 0 0 0 0 0 0",
		"requests 1 2 0\nalso 0 2 1", "requests 1 2 0\nalso 0 1 -1", "requests 1 2 0\nalso 0 1", "requests 1 2 0\nsite 0 1 2 3 a.go",
		"requests 1 2 0\ngiven 0 0 1 0 0 0 0 0 0 0 0", "requests 1 2 0\n0 1 1 1 1 0 0 0 0 0 0 0 0 0 0 0 0 0\ngiven 1 0 1 0 0 0 0 0 0 0 0 0 0", "requests 1 2 0\n0 1 1 1 1 0 0 0 0 0 0 0 0 0 0 0 0 0\nreturned 0 0 1 0 0 0 -1 0 0 0 0 0 0",
	} {
		if c, err := inputs.Parse([]byte(text), sources); err == nil {
			t.Errorf("%q is taken: %+v", text, c)
		}
	}
	for _, text := range []string{"", "[]", `{"functions":[{"calls":1,"hashed":2}]}`, `{"functions":[{"calls":-1}]}`, `{"functions":[{"calls":1,"overlapping":2}]}`, `{"functions":[{"calls":3,"again":[{"calls":2,"same":3}]}]}`, `{"functions":[{"stopped_after_requests":-1}]}`,
		`{"functions":[{"given":[{"seen":2,"ascii":3}]}]}`, `{"functions":[{"returned":[{"seen":2,"unchanged":3}]}]}`} {
		if c, err := inputs.Read([]byte(text)); err == nil {
			t.Errorf("%q is taken: %+v", text, c)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"requests":1,"functions":[{"name":"main.a","calls":3,"hashed":2,"params":["value"]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if c, err := inputs.Read(data); err == nil && c == nil {
			t.Error("neither counts nor an error")
		}
	})
}
