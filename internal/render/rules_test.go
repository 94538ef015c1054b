package render

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose"
)

// TestRulesPage: docs/rules.md equals the documentation of the rules.
func TestRulesPage(t *testing.T) {
	var b bytes.Buffer
	RulesMarkdown(&b, diagnose.Rules())
	page := filepath.Join("..", "..", "docs", "rules.md")
	if *update {
		if err := os.WriteFile(page, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if strings.ReplaceAll(string(have), "\r\n", "\n") != b.String() {
		t.Errorf("docs/rules.md is out of date: run go test ./internal/render -run RulesPage -update")
	}
}

// TestRulesWhole: list and page have every rule, and each rule has a kind that is listed.
func TestRulesWhole(t *testing.T) {
	rules := diagnose.Rules()
	var list, page bytes.Buffer
	Rules(&list, rules, Style{})
	RulesMarkdown(&page, rules)
	for _, r := range rules {
		if strings.Count(list.String(), "\n  "+r.ID+" ") != 1 {
			t.Errorf("the list has not one %s", r.ID)
		}
		if strings.Count(page.String(), "\n**"+r.ID+"**") != 1 {
			t.Errorf("the page has not one %s", r.ID)
		}
		var one bytes.Buffer
		Rule(&one, r, Style{})
		if !strings.Contains(one.String(), r.Title) || !strings.Contains(one.String(), "Seen in the field") {
			t.Errorf("%s: %s", r.ID, one.String())
		}
	}
}
