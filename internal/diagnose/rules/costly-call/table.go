package costlycall

import "github.com/hone-go/hone/internal/diagnose/rule"

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
	return append(append(objects(), clients()...), append(texts(), typed()...)...)
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
			},
			does:    "creates a client that has to connect, and to learn about the other side, again",
			instead: once,
			saves:   kept,
			waits:   true,
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
				"github.com/redis/go-redis*.cmdable.Keys", "github.com/go-redis/redis*.cmdable.Keys",
			},
			does:    "makes Redis compare all keys of the database with a pattern, and serve nobody else meanwhile",
			instead: "Keep the names in a set (SADD, SMEMBERS), or walk the keys in steps with SCAN.",
			saves:   rule.Fraction{Expect: 0.9, Low: 0.5, High: 1},
			waits:   true,
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
