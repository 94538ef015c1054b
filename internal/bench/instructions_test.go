package bench

import "testing"

func TestInstructionCounts(t *testing.T) {
	for _, tt := range []struct {
		parse func([]byte) (float64, error)
		text  string
		want  float64 // 0: an error
	}{
		{parseCachegrind, "desc: I1 cache\ncmd: ./x\nevents: Ir\nfl=a\nfn=b\n1 5\nsummary: 123456\n", 123456},
		{parseCachegrind, "cmd: ./x\nevents: Ir\nfl=a\n", 0},
		{parseCachegrind, "cmd: ./x\nevents: Ir I1mr ILmr\nsummary: 1 2 3\n", 0},
		{parseCachegrind, "", 0},
		{parsePerf, "# started on Tue\n\n123456,,instructions:u,1000,100.00,,\n", 123456},
		{parsePerf, "# started on Tue\n\n<not supported>,,instructions:u,0,100.00,,\n", 0},
		{parsePerf, "", 0},
	} {
		n, err := tt.parse([]byte(tt.text))
		if n != tt.want || (err == nil) != (tt.want > 0) {
			t.Errorf("%q: %v, %v", tt.text, n, err)
		}
	}
}
