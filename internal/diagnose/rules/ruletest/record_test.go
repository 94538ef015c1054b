//go:build live

package ruletest

import (
	"encoding/json"
	"testing"
)

func TestFold(t *testing.T) {
	v := map[string]any{
		"a": []any{}, "b": map[string]any{"c": 1, "d": "x{", "e": []any{"y", "]"}},
		"f": []any{map[string]any{"g": 1}, map[string]any{"h": "i", "j": nil}},
	}
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
 "a": [],
 "b": {
  "c": 1,
  "d": "x{",
  "e": ["y", "]"]
 },
 "f": [
  {"g": 1},
  {"h": "i", "j": null}
 ]
}`
	if got := string(fold(text)); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
