// Package codecs lists functions that encode values into texts or bytes, and functions that decode
// them.
package codecs

import "github.com/hone-go/hone/internal/diagnose/funcname"

// Encoders returns functions that encode a value, as profiles name them. Methods of encoders that
// keep a state for their stream, such as those of gob, are not among them.
func Encoders() []string {
	return []string{
		"encoding/json.Marshal*", "encoding/json.(*Encoder).Encode", "encoding/xml.Marshal*", "encoding/xml.(*Encoder).Encode",
		"encoding/json/v2.Marshal*",
		"text/template.(*Template).Execute*", "html/template.(*Template).Execute*",
		"google.golang.org/protobuf/proto.Marshal*", "google.golang.org/protobuf/encoding/protojson.Marshal*", "google.golang.org/protobuf/encoding/protojson.MarshalOptions.Marshal*",
		"github.com/golang/protobuf/proto.Marshal", "github.com/gogo/protobuf/proto.Marshal",
		"gopkg.in/yaml%2ev*.Marshal", "gopkg.in/yaml%2ev*.(*Encoder).Encode", "go.yaml.in/yaml/v*.Marshal", "go.yaml.in/yaml/v*.(*Encoder).Encode",
		"sigs.k8s.io/yaml.Marshal", "github.com/ghodss/yaml.Marshal", "github.com/goccy/go-yaml.Marshal*",
		"github.com/goccy/go-json.Marshal*", "github.com/goccy/go-json.(*Encoder).Encode*",
		"github.com/json-iterator/go.(*frozenConfig).Marshal*", "github.com/bytedance/sonic.Marshal*", "github.com/segmentio/encoding/json.Marshal*",
		"github.com/vmihailenco/msgpack*.Marshal", "github.com/vmihailenco/msgpack*.(*Encoder).Encode",
		"github.com/fxamacker/cbor*.Marshal", "github.com/fxamacker/cbor*.(*Encoder).Encode",
	}
}

// Decoders returns functions that decode bytes into a value, as profiles name them: their first
// argument, or what the reader of their receiver reads.
func Decoders() []string {
	return []string{
		"encoding/json.Unmarshal", "encoding/json.(*Decoder).Decode", "encoding/json/v2.Unmarshal*", "encoding/xml.Unmarshal", "encoding/xml.(*Decoder).Decode",
		"encoding/gob.(*Decoder).Decode",
		"google.golang.org/protobuf/proto.Unmarshal", "google.golang.org/protobuf/encoding/protojson.Unmarshal*",
		"github.com/golang/protobuf/proto.Unmarshal", "github.com/gogo/protobuf/proto.Unmarshal",
		"gopkg.in/yaml%2ev*.Unmarshal", "gopkg.in/yaml%2ev*.(*Decoder).Decode", "go.yaml.in/yaml/v*.Unmarshal", "go.yaml.in/yaml/v*.(*Decoder).Decode",
		"sigs.k8s.io/yaml.Unmarshal*", "github.com/ghodss/yaml.Unmarshal*", "github.com/goccy/go-yaml.Unmarshal*",
		"github.com/goccy/go-json.Unmarshal*", "github.com/goccy/go-json.(*Decoder).Decode*",
		"github.com/json-iterator/go.(*frozenConfig).Unmarshal*", "github.com/bytedance/sonic.Unmarshal*", "github.com/segmentio/encoding/json.Unmarshal*",
		"github.com/vmihailenco/msgpack*.Unmarshal", "github.com/vmihailenco/msgpack*.(*Decoder).Decode",
		"github.com/fxamacker/cbor*.Unmarshal", "github.com/fxamacker/cbor*.(*Decoder).Decode",
	}
}

// Binders returns functions of web frameworks that decode the body of a request into their last
// argument, as profiles name them. They call a decoder in the framework's own code.
func Binders() []string {
	return []string{
		"github.com/gin-gonic/gin.(*Context).BindJSON", "github.com/gin-gonic/gin.(*Context).ShouldBindJSON",
		"github.com/gin-gonic/gin.(*Context).Bind", "github.com/gin-gonic/gin.(*Context).ShouldBind",
		"github.com/labstack/echo/v*.(*context).Bind", "github.com/labstack/echo/v*.(*Context).Bind", "github.com/labstack/echo/v*.(*DefaultBinder).Bind",
		"github.com/gofiber/fiber/v*.(*Ctx).BodyParser", "github.com/go-chi/render.DecodeJSON", "github.com/go-chi/render.Decode",
	}
}

// TypedBinders returns the names of [Binders] in source: some are methods of an interface there.
func TypedBinders() []string {
	return append(funcname.TypedAll(Binders()), "(github.com/labstack/echo/v*.Context).Bind")
}
