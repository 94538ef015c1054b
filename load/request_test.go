package load

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestRequestBytes(t *testing.T) {
	for _, c := range []struct {
		name   string
		target Target
		want   string
		addr   string
	}{
		{
			"plain", Target{URL: "http://127.0.0.1:8080/v1/leftpad/?str=test&len=50&chr=*"},
			"GET /v1/leftpad/?str=test&len=50&chr=* HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: hone\r\n\r\n", "127.0.0.1:8080",
		},
		{
			"no path, default port", Target{URL: "https://example.com"},
			"GET / HTTP/1.1\r\nHost: example.com\r\nUser-Agent: hone\r\n\r\n", "example.com:443",
		},
		{
			"headers and body", Target{Method: "POST", URL: "http://[::1]/a%20b#fragment", Body: []byte("{}"), Header: [][2]string{
				{"Host", "other"}, {"content-length", "77"}, {"User-Agent", "me"}, {"X-A", " 1 "}, {"X-A", "2"},
			}},
			"POST /a%20b HTTP/1.1\r\nHost: other\r\nUser-Agent: me\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: 2\r\n\r\n{}", "[::1]:80",
		},
		{
			"empty body of a method that has one", Target{Method: "PUT", URL: "http://x/"},
			"PUT / HTTP/1.1\r\nHost: x\r\nUser-Agent: hone\r\nContent-Length: 0\r\n\r\n", "x:80",
		},
		{
			"user in the URL", Target{URL: "http://u:p@x/", Header: [][2]string{{"User-Agent", ""}}},
			"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Basic dTpw\r\n\r\n", "x:80",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			wire, o, err := c.target.wire()
			if err != nil {
				t.Fatal(err)
			}
			if string(wire) != c.want || o.addr != c.addr {
				t.Errorf("to %s:\n%q\nwant to %s:\n%q", o.addr, wire, c.addr, c.want)
			}
			req, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(wire)))
			if err != nil {
				t.Fatalf("net/http cannot read it: %v", err)
			}
			if body, err := io.ReadAll(req.Body); err != nil || !bytes.Equal(body, c.target.Body) {
				t.Errorf("net/http reads body %q, %v; want %q", body, err, c.target.Body)
			}
		})
	}
}

func TestRequestsCannotBeSplit(t *testing.T) {
	for _, target := range []Target{
		{Method: "GET / HTTP/1.1\r\nX:", URL: "http://x/"},
		{URL: "http://x/\r\nX: y"},
		{URL: "http://x\r\n/"},
		{URL: "http://x/", Header: [][2]string{{"A", "b\nC: d"}}},
		{URL: "http://x/", Header: [][2]string{{"A: b\r\nC", "d"}}},
		{URL: "http://x/", Header: [][2]string{{"", "d"}}},
		{URL: "http://bücher.example/"},
	} {
		if wire, _, err := target.wire(); err == nil {
			t.Errorf("%+v was accepted as %q", target, strings.ToValidUTF8(string(wire), "?"))
		}
	}
}
