package gittree

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDescribe(t *testing.T) {
	dir, git := repository(t)
	c, err := Describe(t.Context(), dir, "")
	if err != nil || c.Hash != git("rev-parse", "HEAD") || c.Subject != "two" || c.Branch != "main" || c.Dirty || c.Time.IsZero() {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err := Describe(t.Context(), dir, "HEAD~1"); err != nil || c.Subject != "one" || c.Branch != "" {
		t.Errorf("%+v, %v", c, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "module", "file.txt"), []byte("three"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := Describe(t.Context(), dir, ""); err != nil || !c.Dirty {
		t.Errorf("a changed tree: %+v, %v", c, err)
	}
	for _, ref := range []string{"nowhere", "--output=x"} {
		if _, err := Describe(t.Context(), dir, ref); err == nil {
			t.Errorf("%s: no error", ref)
		}
	}
	list, err := Between(t.Context(), dir, "HEAD~1", "HEAD")
	if err != nil || len(list) != 1 || list[0].Subject != "two" {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := Between(t.Context(), dir, "HEAD", "HEAD~1"); err == nil {
		t.Error("a range backwards: no error")
	}
}
