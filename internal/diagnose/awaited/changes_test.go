package awaited_test

import (
	"fmt"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/awaited"
)

// TestWords splits names.
func TestWords(t *testing.T) {
	for name, want := range map[string]string{"listPosts": "[list posts]", "post": "[post]", "SaveOrder": "[save order]", "get_user": "[get user]"} {
		if got := fmt.Sprint(awaited.Words(name)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
