package render

import (
	"encoding/json"
	"io"

	"github.com/hone-go/hone/internal/screen"
)

// JSON writes v, a value with a versioned schema, indented for people.
func JSON(w io.Writer, v any) error {
	enc := json.NewEncoder(screen.JSON(w))
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
