package recording

import (
	"net"
	"net/url"
	"strings"
)

// Local reports whether the load came from the machine that the program ran on.
func (l *Load) Local() bool {
	for _, t := range l.Targets {
		raw := t[strings.LastIndexByte(t, ' ')+1:]
		u, err := url.Parse(raw)
		if err != nil {
			continue
		}
		host := u.Hostname()
		if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
			return true
		}
	}
	return false
}
