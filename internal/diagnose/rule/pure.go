package rule

// Pure are functions of the standard library, as profiles name them, whose result depends
// on their arguments alone: no state, no clock, no environment. Their results are values, or may be
// shared as long as nobody writes to them.
func Pure() []string {
	return []string{
		"crypto/md5.Sum", "crypto/sha1.Sum", "crypto/sha256.Sum256", "crypto/sha512.Sum512",
		"encoding/base64.(*Encoding).DecodeString", "encoding/base64.(*Encoding).EncodeToString",
		"encoding/hex.DecodeString", "encoding/hex.EncodeToString",
		"hash/crc32.ChecksumIEEE",
		"html.EscapeString", "html.UnescapeString",
		"net.ParseCIDR", "net.ParseIP",
		"net/netip.MustParseAddr", "net/netip.MustParsePrefix", "net/netip.ParseAddr", "net/netip.ParsePrefix",
		"net/url.Parse", "net/url.PathEscape", "net/url.QueryEscape", "net/url.QueryUnescape",
		"path.Base", "path.Clean", "path.Dir", "path.Join",
		"path/filepath.Base", "path/filepath.Clean", "path/filepath.Dir", "path/filepath.Join",
		"regexp.QuoteMeta",
		"strconv.Atoi", "strconv.FormatFloat", "strconv.FormatInt", "strconv.FormatUint", "strconv.Itoa",
		"strconv.ParseFloat", "strconv.ParseInt", "strconv.ParseUint", "strconv.Quote", "strconv.Unquote",
		"strings.Fields", "strings.Repeat", "strings.Replace", "strings.ReplaceAll", "strings.Split",
		"strings.Title", "strings.ToLower", "strings.ToTitle", "strings.ToUpper", "strings.TrimSpace",
		"time.Parse", "time.ParseDuration",
	}
}
