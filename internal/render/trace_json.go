package render

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/hone-go/hone/internal/screen"
)

// TraceJSON writes a view of a trace: the schema "hone/trace/VIEW/v1" and the source, then the
// fields of v. A result with its own schema keeps that.
func TraceJSON(w io.Writer, view string, p TracePage, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	schema := "hone/trace/" + view + "/v1"
	if bytes.HasPrefix(body, []byte(`{"schema":`)) {
		schema = ""
	}
	head, err := json.Marshal(struct {
		Schema string   `json:"schema,omitempty"`
		Source string   `json:"source"`
		Notes  []string `json:"notes_on_source,omitempty"`
	}{schema, p.Source, p.Notes})
	if err != nil {
		return err
	}
	if bytes.HasPrefix(body, []byte("{")) && !bytes.Equal(body, []byte("{}")) {
		head = append(head[:len(head)-1], ',')
		head = append(head, body[1:]...)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, head, "", "  "); err != nil {
		return err
	}
	out.WriteByte('\n')
	_, err = out.WriteTo(screen.JSON(w))
	return err
}
