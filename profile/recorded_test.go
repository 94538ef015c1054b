package profile_test

import (
	"bytes"
	"testing"

	google "github.com/google/pprof/profile"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/profiletest"
)

func TestRecordedProfilesRoundTrip(t *testing.T) {
	for name, data := range profiletest.Record() {
		p, err := profile.Decode(bytes.NewReader(data), 0)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		g, err := google.ParseData(data)
		if err != nil {
			t.Fatal(err)
		}
		profiletest.Same(t, name, g, profiletest.ToGoogle(t, p))
	}
}
