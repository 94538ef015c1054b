package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAnswers(t *testing.T) {
	handler := newHandler()
	for path, want := range map[string][]string{
		"/orders.csv?customer=1": {
			"order,article,pieces,cents,state\nA0000040,\"cast-iron pan\",6,2470,open\nA0000041,\"desk lamp, brass\",7,2507,paid\n",
			"A0000079,\"enamel mug\",3,3913,returned\n",
		},
		"/orders.csv?customer=-1": {"order,article,pieces,cents,state\n"},
		"/orders.html?customer=2": {
			"<title>10 orders</title>",
			`<tr class="open"><td>A0000080<td>cast-iron pan<td>4<td>3950<td>open</tr>` + "\n" + `<tr class="paid"><td>A0000081<td>desk lamp, brass<td>5<td>3987<td>paid</tr>`,
			`<td>A0000089<td>enamel mug<td>6<td>4283<td>paid</tr>` + "\n</table>",
		},
		"/orders.html?customer=x": {"<title>0 orders</title>", "No orders yet."},
	} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		for _, part := range want {
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), part) {
				t.Errorf("%s: %d without %q:\n%s", path, w.Code, part, w.Body)
			}
		}
	}
}
