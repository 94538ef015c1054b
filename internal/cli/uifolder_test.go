package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/ui"
	"github.com/hone-go/hone/profile"
)

// TestUIFolderOfRecordings writes three recordings to a folder that is being served: each appears
// when it is written, the newest first, under an address that does not change, and every view of
// each shows what the command prints.
func TestUIFolderOfRecordings(t *testing.T) {
	folder := t.TempDir()
	trace := hostileTrace(t)
	h, env := uiOf(t, folder)
	server := httptest.NewServer(h)
	defer server.Close()
	get := func(address string) (int, string) {
		resp, err := http.Get(server.URL + address)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(body)
	}
	sources := func() (list []ui.Source) {
		_, body := get("/api/sources")
		if err := json.Unmarshal([]byte(body), &list); err != nil {
			t.Fatal(err)
		}
		return list
	}
	ids := map[string]string{}
	var paths []string
	for i, name := range []string{"first", "second", "third"} {
		path := filepath.Join(folder, name+".hone")
		recordOf(t, path, "main."+name, int64(i+1), trace)
		now := time.Now().Add(time.Duration(i) * time.Second)
		if err := os.Chtimes(path, now, now); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
		list := sources()
		if len(list) != i+1 || list[0].Name != name+".hone" {
			t.Fatalf("after %s was made: %+v", name, list)
		}
		ids[path] = list[0].ID
		for _, s := range list {
			for p, id := range ids {
				if filepath.Base(p) == s.Name && s.ID != id {
					t.Errorf("%s is at %s, and was at %s", s.Name, s.ID, id)
				}
			}
		}
	}
	answers := map[string]string{}
	for i, path := range paths {
		fn := strings.TrimSuffix("main."+filepath.Base(path), ".hone")
		exact := "^" + strings.ReplaceAll(fn, ".", "\\.") + "$"
		old := paths[(i+1)%len(paths)]
		for address, args := range map[string][]string{
			"findings": {"findings", path}, "top": {"top", path}, "top&sample_index=samples&granularity=files&sort=cum": {"top", "-sample_index=samples", "-granularity=files", "-sort=cum", path},
			"list&fn=" + fn: {"list", exact, path}, "peek&fn=" + fn: {"peek", exact, path}, "disasm&fn=" + fn: {"disasm", exact, path}, "why&fn=" + fn: {"why", fn, path},
			"compare&base=" + ids[old]: {"compare", old, path}, "diff&base=" + ids[old]: {"diff", old, path}, "top&base=" + ids[old]: {"top", "-diff_base=" + old, "-per_request", path},
			"trace-summary": {"trace", "summary", path}, "trace-overview": {"trace", "overview", path}, "trace-requests": {"trace", "requests", path}, "trace-critical": {"trace", "critical", path},
			"trace-blocking": {"trace", "blocking", path}, "trace-sched": {"trace", "sched", path}, "trace-gc": {"trace", "gc", path}, "trace-syscalls": {"trace", "syscalls", path}, "trace-goroutines": {"trace", "goroutines", path},
			"top&part=trace:blocking": {"top", path + ":trace:blocking"},
		} {
			view, more, _ := strings.Cut(address, "&")
			var want strings.Builder
			b := uiBackend{env: env}
			wantErr := b.Run(t.Context(), &want, append([]string{args[0], "-json"}, args[1:]...)...)
			if args[0] == "trace" {
				want.Reset()
				wantErr = b.Run(t.Context(), &want, "trace", args[1], "-json", path)
			}
			status, got := get(fmt.Sprintf("/api/%s?src=%s&%s", view, ids[path], more))
			switch {
			case wantErr != nil:
				if status != http.StatusUnprocessableEntity || strings.TrimSpace(got) != wantErr.Error() {
					t.Errorf("%s of %s: %d %q, the command says %v", address, path, status, got, wantErr)
				}
			case got != want.String():
				t.Errorf("%s of %s: another answer than the command's:\n%.300s\n%.300s", address, path, got, want.String())
			}
			if address == "top" {
				answers[got] = path
			}
		}
	}
	if len(answers) != len(paths) {
		t.Errorf("%d different answers of %d recordings", len(answers), len(paths))
	}
}

// recordOf writes a recording of a service whose CPU goes to one function.
func recordOf(t *testing.T, path, function string, value int64, trace []byte) {
	t.Helper()
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"}, profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	b.Add([]profile.FrameSpec{{Function: function, File: "/src/main.go", Line: 7}, {Function: "main.main", File: "/src/main.go", Line: 3}}, 100*value, 1e9*value)
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	var cpu strings.Builder
	if err := p.Encode(&cpu); err != nil {
		t.Fatal(err)
	}
	m := recording.Manifest{Created: time.Unix(1e9+value, 0), Load: &recording.Load{}}
	m.Target.Kind, m.Target.Arg = "service", "./"+function
	m.Phases = []recording.Phase{{Name: recording.PhaseClean, Seconds: 1, Requests: 1000, CPUSeconds: float64(value)}, {Name: recording.PhaseCPU, Seconds: 2, Requests: 1000 * value}}
	w, err := recording.Create(path, m)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{recording.PartCPU: []byte(cpu.String()), recording.PartTrace: trace} {
		if err := w.Add(name, recording.PhaseCPU, data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(true); err != nil {
		t.Fatal(err)
	}
}
