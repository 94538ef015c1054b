package costlycall

import (
	"slices"

	"github.com/hone-go/hone/internal/diagnose/rule"
)

// call is a kind of function that is expensive on a hot path.
type call struct {
	functions []string // as profiles name them
	does      string   // what makes it expensive: "… marshals the value, …"
	instead   string   // a sentence
	saves     rule.Fraction
	// services says that only a service is expected to keep the result: a program that exits may
	// have the call as its task.
	services bool
	// waits says that the call asks another program, so that the time for which requests wait for
	// it counts.
	waits bool
}

var (
	// kept is the saving of an object that is created once: almost everything.
	kept = rule.Fraction{Expect: 0.97, Low: 0.8, High: 1}
	// dropped is the saving of text for people that nobody reads.
	dropped = rule.Fraction{Expect: 0.95, Low: 0.5, High: 1}
	// byHand is the saving of code that knows the type: the copy or comparison itself remains.
	byHand = rule.Fraction{Expect: 0.8, Low: 0.5, High: 0.97}
)

// known returns the functions that the rule knows.
func known() []call {
	return slices.Concat(objects(), clients(), choices(), texts(), typed())
}

// objects prepare something for later calls.
func objects() []call {
	return []call{
		{
			functions: []string{
				"github.com/open-policy-agent/opa*rego.(*Rego).Eval",
				"github.com/open-policy-agent/opa*rego.(*Rego).PrepareForEval",
			},
			does:    "parses and compiles the policy before it evaluates it",
			instead: "Prepare the query once (PrepareForEval), and evaluate the prepared query with each input.",
			saves:   byHand,
		},
		{
			functions: []string{
				"github.com/xeipuuv/gojsonschema.Validate", "github.com/xeipuuv/gojsonschema.NewSchema",
				"github.com/santhosh-tekuri/jsonschema*.CompileString",
			},
			does:    "compiles the schema before it validates anything",
			instead: "Compile each schema once, and validate with the compiled schema.",
			saves:   byHand,
		},
		{
			functions: []string{
				"github.com/dop251/goja.New", "github.com/robertkrimen/otto.New", "github.com/yuin/gopher-lua.NewState",
				"github.com/tetratelabs/wazero.(*runtime).CompileModule", "github.com/tetratelabs/wazero.NewRuntime*",
			},
			does:    "creates an interpreter with all of its built-in objects, or compiles a module for one",
			instead: "Compile scripts once, and keep interpreters that are ready in a pool, as each serves one goroutine at a time.",
			saves:   kept,
		},
		{
			functions: []string{
				"golang.org/x/image/font/opentype.Parse", "golang.org/x/image/font/opentype.NewFace",
				"golang.org/x/image/font/sfnt.Parse", "github.com/golang/freetype/truetype.Parse",
				"github.com/golang/freetype/truetype.NewFace", "github.com/golang/freetype.ParseFont",
				"github.com/fogleman/gg.LoadFontFace", "github.com/fogleman/gg.(*Context).LoadFontFace",
			},
			does:    "parses the font, or creates a face without any glyphs in its cache",
			instead: "Parse each font once, and keep its faces by size (a face serves one goroutine at a time: keep them in a pool).",
			saves:   kept,
		},
		{
			functions: []string{
				"net/http.NewServeMux", "github.com/gorilla/mux.NewRouter", "github.com/go-chi/chi*.NewRouter",
				"github.com/julienschmidt/httprouter.New", "github.com/gin-gonic/gin.New",
				"github.com/gin-gonic/gin.Default", "github.com/labstack/echo*.New",
			},
			does:    "creates a router, and each route has to be added to it again",
			instead: "Create the router with its routes once, at the start.",
			saves:   kept,
		},
		{
			functions: []string{
				"github.com/graphql-go/graphql.NewSchema", "github.com/graph-gophers/graphql-go.ParseSchema",
				"github.com/graph-gophers/graphql-go.MustParseSchema",
			},
			does:    "builds and checks the whole schema",
			instead: "Build the schema once, at the start, and execute all queries with it.",
			saves:   kept,
		},
		{
			functions: []string{
				"crypto/rsa.GenerateKey", "crypto/rsa.GenerateMultiPrimeKey", "crypto/dsa.GenerateParameters",
			},
			does:     "searches for large prime numbers, which takes tens of milliseconds or more of CPU",
			instead:  "Use one key for all, or generate keys ahead of their use in another goroutine; an ECDSA or Ed25519 key takes microseconds.",
			saves:    rule.Fraction{Expect: 0.95, Low: 0.5, High: 1},
			services: true,
		},
		{
			functions: []string{
				"crypto/tls.LoadX509KeyPair", "crypto/x509.SystemCertPool",
			},
			does:     "reads and parses the certificates",
			instead:  "Keep the certificate or the pool, and load it again when its file changes.",
			saves:    kept,
			services: true,
		},
		{
			functions: []string{
				"github.com/oschwald/geoip2-golang.Open", "github.com/oschwald/geoip2-golang.FromBytes",
				"github.com/oschwald/maxminddb-golang*.Open", "github.com/oschwald/maxminddb-golang*.FromBytes",
				"plugin.Open",
			},
			does:     "opens the file and reads its index or metadata",
			instead:  "Open it once, and keep it open for all lookups.",
			saves:    kept,
			services: true,
		},
		{
			functions: []string{
				"github.com/expr-lang/expr.Eval", "github.com/antonmedv/expr.Eval", "github.com/expr-lang/expr.Compile",
				"github.com/antonmedv/expr.Compile", "github.com/google/cel-go/cel.NewEnv", "github.com/google/cel-go/cel.NewCustomEnv",
				"github.com/google/cel-go/cel.(*Env).Compile", "github.com/Knetic/govaluate.NewEvaluableExpression*",
				"github.com/itchyny/gojq.Parse", "github.com/itchyny/gojq.Compile", "github.com/jmespath/go-jmespath.Search",
				"github.com/PaesslerAG/jsonpath.Get", "github.com/gobwas/glob.Compile", "github.com/dlclark/regexp2.Compile",
				"github.com/robfig/cron*.ParseStandard", "github.com/robfig/cron*.Parser.Parse", "github.com/gorhill/cronexpr.Parse",
				"github.com/antchfx/xpath.Compile", "github.com/Masterminds/semver*.NewConstraint",
			},
			does:    "parses and compiles an expression before it can be evaluated",
			instead: "Compile each expression once, keep the compiled form by its text, and evaluate that.",
			saves:   rule.Fraction{Expect: 0.9, Low: 0.5, High: 1},
		},
		{
			functions: []string{
				"github.com/go-playground/validator*.New", "github.com/casbin/casbin*.NewEnforcer", "github.com/yuin/goldmark.New",
				"github.com/microcosm-cc/bluemonday.UGCPolicy", "github.com/microcosm-cc/bluemonday.StrictPolicy", "github.com/microcosm-cc/bluemonday.NewPolicy",
				"golang.org/x/text/message.NewPrinter", "golang.org/x/text/collate.New", "golang.org/x/text/language.NewMatcher",
				"github.com/nicksnyder/go-i18n*.NewBundle", "github.com/rivo/uniseg.NewGraphemes",
			},
			does:    "builds tables or starts with an empty cache, which later calls fill and use",
			instead: "Create it once, at the start (one per language or setting where it depends on one), and use it for all calls.",
			saves:   kept,
		},
		{
			functions: []string{
				"crypto/x509.ParsePKCS1PrivateKey", "crypto/x509.ParsePKCS8PrivateKey", "crypto/x509.ParseECPrivateKey",
				"crypto/tls.X509KeyPair", "github.com/golang-jwt/jwt*.Parse*FromPEM", "github.com/dgrijalva/jwt-go*.Parse*FromPEM",
				"golang.org/x/crypto/ssh.ParsePrivateKey*",
			},
			does:     "parses a key, and checks its numbers",
			instead:  "Parse the key when it is loaded, and keep it instead of its bytes.",
			saves:    kept,
			services: true,
		},
		{
			functions: []string{"archive/zip.OpenReader"},
			does:      "reads the whole directory of the archive before any file of it",
			instead:   "Keep the reader (it is safe for concurrent use) and open files in it, or keep the files that are needed.",
			saves:     rule.Fraction{Expect: 0.8, Low: 0.4, High: 1},
			services:  true,
		},
		{
			functions: []string{
				"github.com/shirou/gopsutil/*/process.*", "github.com/shirou/gopsutil/*/mem.VirtualMemory*", "github.com/shirou/gopsutil/*/disk.*",
				"github.com/shirou/gopsutil/*/net.*", "github.com/shirou/gopsutil/*/cpu.Percent*", "github.com/shirou/gopsutil/*/cpu.Times*",
				"github.com/prometheus/procfs.FS.*", "github.com/prometheus/procfs.Proc.*",
			},
			does:     "reads and parses files of /proc and /sys",
			instead:  "Let one goroutine read them every few seconds, and answer with the last values.",
			saves:    kept,
			services: true,
			waits:    true,
		},
		{
			functions: []string{
				"github.com/prometheus/client_golang/prometheus.NewRegistry", "github.com/prometheus/client_golang/prometheus.New*Vec",
				"go.opentelemetry.io/otel/sdk/metric.(*meter).*", "go.opentelemetry.io/otel/metric.Meter.*", // the interface, as source has it
				"go.uber.org/zap.NewProduction", "go.uber.org/zap.NewDevelopment", "go.uber.org/zap.Config.Build",
			},
			does:    "creates a metric or a logger, with its registration or its outputs",
			instead: "Create it once, at the start, and keep it in a variable or in the struct that uses it.",
			saves:   kept,
		},
		{
			functions: []string{
				"os/user.Current", "os/user.Lookup*", "os/exec.LookPath", "os.Executable",
			},
			does:    "searches files of the system each time (the user database, the directories of PATH)",
			instead: "Look it up once, and keep the answer.",
			saves:   kept,
		},
		{
			functions: []string{
				"path/filepath.Glob", "io/fs.Glob",
			},
			does:     "reads each directory of the pattern and matches all names in it",
			instead:  "Keep the list, and read the directory again when it has changed (its modification time, or a watcher) or every few seconds.",
			saves:    kept,
			services: true,
		},
	}
}

// clients keep connections and what they know about the other side.
func clients() []call {
	const once = "Create one client at the start, and use it for all requests: it is safe for concurrent use, and keeps its connections."
	return []call{
		{
			functions: []string{
				"google.golang.org/grpc.Dial*", "google.golang.org/grpc.NewClient",
				"github.com/redis/go-redis*.New*Client", "github.com/go-redis/redis*.New*Client",
				"go.mongodb.org/mongo-driver*mongo.Connect", "go.mongodb.org/mongo-driver*mongo.NewClient",
				"github.com/nats-io/nats%2ego.Connect", "github.com/jackc/pgx/v5/pgxpool.New*",
				"github.com/jackc/pgx/v4/pgxpool.Connect*", "gorm.io/gorm.Open", "github.com/jmoiron/sqlx.Open",
				"github.com/jmoiron/sqlx.Connect", "github.com/segmentio/kafka-go.NewWriter",
				"github.com/IBM/sarama.New*Producer", "github.com/Shopify/sarama.New*Producer",
				"github.com/rabbitmq/amqp091-go.Dial*", "github.com/streadway/amqp.Dial*",
				"github.com/minio/minio-go*.New", "cloud.google.com/go/storage.NewClient",
				"github.com/elastic/go-elasticsearch*.NewClient", "github.com/olivere/elastic*.NewClient",
				"github.com/aws/aws-sdk-go/aws/session.New*", "github.com/aws/aws-sdk-go-v2/config.LoadDefaultConfig",
				"k8s.io/client-go/kubernetes.NewForConfig", "k8s.io/client-go/dynamic.NewForConfig",
				"github.com/hashicorp/consul/api.NewClient", "github.com/hashicorp/vault/api.NewClient",
				"go.etcd.io/etcd/client/v3.New", "github.com/gomodule/redigo/redis.Dial*",
				"github.com/segmentio/kafka-go.NewReader", "github.com/segmentio/kafka-go.Dial*", "github.com/twmb/franz-go/pkg/kgo.NewClient",
				"cloud.google.com/go/*.NewClient", "github.com/ClickHouse/clickhouse-go*.Open", "github.com/influxdata/influxdb-client-go*.NewClient*",
				"github.com/docker/docker/client.NewClientWithOpts", "sigs.k8s.io/controller-runtime/pkg/client.New",
				"k8s.io/client-go/discovery.NewDiscoveryClientForConfig", "k8s.io/client-go/tools/clientcmd.BuildConfigFromFlags",
				"golang.org/x/crypto/ssh.Dial", "github.com/go-ldap/ldap*.Dial*", "net/smtp.Dial", "net/smtp.SendMail",
				"firebase.google.com/go*.NewApp", "golang.org/x/oauth2/google.FindDefaultCredentials*", "golang.org/x/oauth2/google.DefaultClient",
			},
			does:    "creates a client that has to connect, and to learn about the other side, again",
			instead: once,
			saves:   kept,
			waits:   true,
		},
		{
			functions: []string{
				"github.com/coreos/go-oidc*.NewProvider", "github.com/lestrrat-go/jwx*/jwk.Fetch", "github.com/MicahParks/keyfunc*.Get",
				"github.com/MicahParks/keyfunc*.NewDefault*",
			},
			does:     "fetches the keys or the settings of the identity provider",
			instead:  "Create it once, at the start: it keeps the keys, and fetches them again when an unknown one is asked for (jwk.Cache, oidc.Provider.Verifier).",
			saves:    kept,
			services: true,
			waits:    true,
		},
		{
			functions: []string{
				"net.Lookup*", "net.(*Resolver).Lookup*",
			},
			does:     "asks the name server: package net keeps no answers",
			instead:  "Keep the answer for as long as it may be used (a minute, or its time to live), and ask again in the background.",
			saves:    kept,
			services: true,
			waits:    true,
		},
		{
			functions: []string{
				"go.etcd.io/bbolt.Open", "github.com/boltdb/bolt.Open", "github.com/dgraph-io/badger*.Open",
				"github.com/syndtr/goleveldb/leveldb.OpenFile", "github.com/cockroachdb/pebble*.Open",
			},
			does:     "opens the whole database: files, locks, its log and its index",
			instead:  "Open the database once, at the start, and keep it open.",
			saves:    kept,
			services: true,
			waits:    true,
		},
		{
			functions: []string{
				"database/sql.(*DB).Ping*", "github.com/redis/go-redis*.cmdable.Ping",
				"github.com/jackc/pgx/v5/pgxpool.(*Pool).Ping", "gorm.io/gorm.(*DB).AutoMigrate",
			},
			does:     "asks the other side for nothing but whether it is there, or whether its tables are as expected",
			instead:  "Leave it to the start and to a health check: the query itself reports a lost connection, and the pool replaces it.",
			saves:    kept,
			services: true,
			waits:    true,
		},
		{
			functions: []string{
				"github.com/spf13/viper.Get*", "github.com/spf13/viper.(*Viper).Get*", "github.com/spf13/viper.IsSet",
				"github.com/spf13/viper.(*Viper).IsSet", "github.com/spf13/viper.Unmarshal*",
				"github.com/spf13/viper.(*Viper).Unmarshal*", "github.com/knadh/koanf*.(*Koanf).Get",
			},
			does:    "searches all sources of settings for the key (flags, environment, files, defaults), and converts what it finds",
			instead: "Read the settings into a struct when they are loaded, and use its fields.",
			saves:   kept,
		},
		{
			functions: []string{
				"os.Environ", "os.ExpandEnv", "github.com/joho/godotenv.Load", "github.com/joho/godotenv.Read",
				"github.com/kelseyhightower/envconfig.Process", "github.com/caarlos0/env*.Parse",
			},
			does:     "copies or parses the whole environment",
			instead:  "Read the settings once, at the start, and use the values.",
			saves:    kept,
			services: true,
		},
	}
}

// choices have a neighbour that costs less: another type of the same package, or another way.
func choices() []call {
	return []call{
		{
			functions: []string{
				"github.com/prometheus/client_golang/prometheus.(*summary).Observe",
				"github.com/prometheus/client_golang/prometheus.Summary.Observe", // the interfaces, as source has them
				"github.com/prometheus/client_golang/prometheus.Observer.Observe",
			},
			does:    "sorts what was observed and merges it into a stream of quantiles, under a lock",
			instead: "Use a histogram: an observation is an atomic addition, and the quantiles are computed by whoever asks for them.",
			saves:   byHand,
		},
		{
			functions: []string{
				"golang.org/x/image/draw.(*Kernel).Scale", "github.com/nfnt/resize.Resize", "github.com/nfnt/resize.Thumbnail",
			},
			does:    "computes each target pixel from many source pixels, weighted by a filter",
			instead: "Use draw.ApproxBiLinear where a small picture is enough, or halve the picture by averages first, and filter only the last step.",
			saves:   rule.Fraction{Expect: 0.6, Low: 0.25, High: 0.85},
		},
		{
			functions: []string{
				"github.com/patrickmn/go-cache.(*cache).Items", "github.com/patrickmn/go-cache.(*Cache).Items",
			},
			does:    "copies all entries of the cache to a new map",
			instead: "Ask for the entries by their keys; to count or to list them, keep what is needed beside the cache.",
			saves:   byHand,
		},
		{
			functions: []string{
				"sigs.k8s.io/yaml.Unmarshal*", "github.com/ghodss/yaml.Unmarshal*", "sigs.k8s.io/yaml.YAMLToJSON*", "github.com/ghodss/yaml.YAMLToJSON",
			},
			does:    "decodes YAML into maps, encodes these as JSON, and decodes the JSON",
			instead: "Keep the decoded value or the JSON; where the type has yaml tags, decode into it with a YAML decoder.",
			saves:   rule.Fraction{Expect: 0.6, Low: 0.3, High: 1},
		},
		{
			functions: []string{
				"k8s.io/apimachinery/pkg/runtime.(*unstructuredConverter).*", "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured.(*Unstructured).DeepCopy",
			},
			does:    "walks the whole object by reflection or through maps of any",
			instead: "Use a typed client and its informer for the kinds that are known, and read shared objects without a copy.",
			saves:   byHand,
		},
	}
}

// texts are for people.
func texts() []call {
	return []call{
		{
			functions: []string{
				"encoding/json.MarshalIndent", "encoding/json.Indent",
			},
			does:    "marshals without spaces first, and then scans all of it again to insert spaces and line breaks, which the other side has to read, too",
			instead: "Send it as json.Marshal returns it; who wants to read it formats it (jq).",
			saves:   rule.Fraction{Expect: 0.5, Low: 0.25, High: 0.7},
		},
		{
			functions: []string{
				"net/http/httputil.DumpRequest*", "net/http/httputil.DumpResponse",
			},
			does:    "copies the whole message, body included, as text",
			instead: "Log the few fields that are needed; dump whole messages only while debugging.",
			saves:   dropped,
		},
		{
			functions: []string{
				"github.com/davecgh/go-spew/spew.*", "github.com/kr/pretty.*", "github.com/sanity-io/litter.*",
				"github.com/k0kubun/pp*.Sprint*", "github.com/alecthomas/repr.*",
			},
			does:    "walks the value by reflection and formats all of it, with the names of its types, for a person to read",
			instead: "Print the few fields that are needed, or only while debugging; as a key or a hash, use a comparable struct.",
			saves:   dropped,
		},
		{
			functions: []string{
				"google.golang.org/protobuf/encoding/prototext.*", "google.golang.org/protobuf/encoding/protojson.Format",
				"github.com/golang/protobuf/proto.MarshalTextString", "github.com/golang/protobuf/proto.CompactTextString",
			},
			does:    "formats the whole message by reflection, for a person to read",
			instead: "Log the fields that are needed, and only where the level of the log is on.",
			saves:   dropped,
		},
		{
			functions: []string{
				"runtime/debug.Stack", "runtime/debug.PrintStack",
			},
			does:    "resolves each frame of the stack to a function and a line, and formats them as text",
			instead: "Do it for errors that indicate a bug only (a panic); an error that belongs to normal operation needs no stack.",
			saves:   dropped,
		},
		{
			functions: []string{
				"net/http/httptest.NewRecorder",
			},
			does:     "creates a recorder for tests, which copies the header and the whole body",
			instead:  "Write to the response itself; what must be known before the header is sent goes into a buffer that is used again.",
			saves:    rule.Fraction{Expect: 0.7, Low: 0.3, High: 1},
			services: true,
		},
	}
}

// typed walk values by reflection.
func typed() []call {
	return []call{
		{
			functions: []string{"google.golang.org/protobuf/encoding/protojson.Marshal", "google.golang.org/protobuf/encoding/protojson.MarshalOptions.Marshal*"},
			does:      "encodes the message through the reflection of protobuf: it looks up and sorts the fields of each message, and takes several times as long as the binary form or encoding/json with a plain struct",
			instead:   "Send the binary form (proto.Marshal) where the other side can read it, keep the text of messages that do not change, or fill a plain struct and encode that with encoding/json.",
			saves:     rule.Fraction{Expect: 0.7, Low: 0.3, High: 0.9},
		},
		{
			functions: []string{"reflect.Append", "reflect.AppendSlice"},
			does:      "allocates a slice header for its result and copies the element by reflection, even where the slice has room",
			instead:   "Grow the slice once (reflect.Value.Grow, SetLen) and set its elements by index, or append in a function for the type (generics).",
			saves:     byHand,
		},
		{
			functions: []string{
				"github.com/google/go-cmp/cmp.Equal", "github.com/google/go-cmp/cmp.Diff",
			},
			does:    "compares by reflection and is meant for tests: it also records the path to each difference",
			instead: "Compare the fields (==, slices.Equal, maps.Equal), in an Equal method of the type.",
			saves:   rule.Fraction{Expect: 0.95, Low: 0.8, High: 1},
		},
		{
			functions: []string{
				"github.com/mitchellh/copystructure.Copy", "github.com/jinzhu/copier.Copy*",
				"github.com/mohae/deepcopy.Copy", "github.com/barkimedes/go-deepcopy.*",
				"github.com/huandu/go-clone*.Clone", "github.com/tiendc/go-deepcopy.Copy", "github.com/ulule/deepcopier.*",
			},
			does:    "copies the value by reflection, field by field and element by element",
			instead: "Write a Clone method that copies the fields (slices.Clone, maps.Clone), or share the value if nobody changes it.",
			saves:   byHand,
		},
		{
			functions: []string{
				"github.com/mitchellh/mapstructure.*", "github.com/go-viper/mapstructure*.Decode*",
				"github.com/mitchellh/mapstructure.(*Decoder).Decode",
			},
			does:    "matches the keys of a map with the fields of a struct by reflection and by name",
			instead: "Decode the input directly into the struct, or assign the few fields.",
			saves:   byHand,
		},
		{
			functions: []string{
				"github.com/mitchellh/hashstructure*.Hash", "github.com/cnf/structhash.*",
			},
			does:    "walks the value by reflection and hashes a text of each of its parts",
			instead: "Use a comparable struct as the key, or write its fields to a hash (hash/maphash has WriteComparable).",
			saves:   byHand,
		},
	}
}

// functions returns the names of all of them.
func functions() []string {
	var all []string
	for _, k := range known() {
		all = append(all, k.functions...)
	}
	return all
}
