package house

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

var update = flag.Bool("update", false, "rewrite docs/json.md")

// printed lists the commands that print a schema. A new schema needs an entry here.
func printed() map[string]string {
	views := map[string]string{
		"hone/findings/v2":  "`hone run -json`, `hone findings -json`",
		"hone/recording/v1": "`hone record -json`, and `manifest.json` in a recording",
		"hone/groups/v1":    "`hone top -groups -json`",
		"hone/raw/v1":       "`hone raw -json`; samples, locations, functions and mappings follow, an entry a line",
		"hone/upstream/v1":  "`hone fix -fork DIR -json`",
		"hone/tunedeps/v1":  "`hone tune deps -json`",
		"hone/tunego/v1":    "`hone tune go -json`",
		"hone/tunepgo/v1":   "`hone tune pgo -json`",
		"hone/tunegc/v1":    "`hone tune gc -json`",
		"hone/runs/v1":      "`hone history -json`",
		"hone/tracks/v1":    "`hone history show -json`, `hone history plot -json`",
		"hone/bisect/v1":    "`hone history bisect -json`",
		"hone/history/v1":   "`hone history export`, a line for each run",
		"hone/traces/v1":    "`hone traces -json`; `traces` follow, one a line",
	}
	for _, name := range []string{
		"bench", "comments", "compare", "demo", "diff", "disasm", "doctor", "fix", "flame", "folded", "graph", "list", "load", "noise", "peek", "prove", "recordings", "rules", "tags", "top", "tree", "try", "version", "why",
	} {
		views["hone/"+name+"/v1"] = "`hone " + name + " -json`"
	}
	for view := range traceViews() {
		views["hone/trace/"+view+"/v1"] = "`hone trace " + view + " -json`"
	}
	return views
}

// traceViews are the types of the views of hone trace; their schema is written before their fields.
func traceViews() map[string]string {
	return map[string]string{
		"summary": "exectrace/analysis.Summary", "requests": "exectrace/requests.Result", "critical": "internal/traceview.CriticalPath", "cpu": "exectrace/requests.CPU",
		"goroutines": "exectrace/wall.Goroutines", "blocking": "exectrace/wall.Blocking", "wakers": "exectrace/wall.Wakings", "sched": "exectrace/wall.Sched",
		"syscalls": "exectrace/wall.Syscalls", "parallelism": "exectrace/parallelism.Result", "gc": "exectrace/gc.Result",
		"tasks": "exectrace/annotations.Result", "regions": "exectrace/annotations.Result", "logs": "exectrace/annotations.Result",
		"timeline": "exectrace/timeline.Result",
		"overview": "exectrace/window.Overview",
	}
}

// streamed are fields that are written one by one after a schema's own: by schema, name and local
// type.
func streamed() map[string][][2]string {
	return map[string][][2]string{
		"hone/traces/v1": {{"traces", "TracesJSON.trace"}},
		"hone/raw/v1":    {{"samples", "RawJSON.sample"}, {"locations", "RawJSON.location"}, {"functions", "RawJSON.function"}, {"mappings", "RawJSON.mapping"}},
	}
}

const jsonIntro = `# JSON

Every command that reports prints JSON with ` + "`-json`" + `. This page lists the schemas with their fields; a test writes it
from the types in the source and fails when the two differ (` + "`go test ./internal/house -run JSONPage -update`" + `).

- ` + "`schema`" + ` names the form and its version. Within a version fields are added, never changed or removed.
- What is unknown is absent (or ` + "`null`" + ` in an interval), never zero. *Optional* fields may be absent.
- Names carry the unit: ` + "`_seconds`, `_ns`, `_bytes`, `_share`" + ` (of 1). What has none says it in its description.

`

// TestJSONPage: docs/json.md has every schema with its fields as they are in the source.
func TestJSONPage(t *testing.T) {
	src := loadSource(t)
	got := src.page(t)
	file := filepath.Join(root, "docs", "json.md")
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n")), got) {
		t.Error("docs/json.md is out of date: run go test ./internal/house -run JSONPage -update")
	}
}

// source is the module's code with the comments of its fields and types.
type source struct {
	pkgs     []*packages.Package
	comments map[string]string     // of a field or type, by file and line
	roots    map[string]types.Type // by schema
	done     map[string]bool       // headings of types on the page
	out      bytes.Buffer
}

func loadSource(t *testing.T) *source {
	t.Helper()
	var paths []string
	for _, p := range list(t, runtime.GOOS) {
		if !strings.HasPrefix(p.path(), "internal/diagnose/rules/") { // 160 packages, and nothing to print
			paths = append(paths, p.ImportPath)
		}
	}
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedSyntax,
		Dir:  root,
	}, paths...)
	if err != nil {
		t.Fatal(err)
	}
	s := &source{pkgs: pkgs, comments: map[string]string{}, roots: map[string]types.Type{}, done: map[string]bool{}}
	for _, p := range pkgs {
		for _, e := range p.Errors {
			t.Fatal(e)
		}
		for _, f := range p.Syntax {
			ast.Inspect(f, func(n ast.Node) bool { s.look(p, n); return true })
		}
	}
	written := map[string]string{"hone/recording/v1": "internal/recording.Manifest"}
	for view, name := range traceViews() {
		written["hone/trace/"+view+"/v1"] = name
	}
	for schema, name := range written {
		pkg, typ, _ := strings.Cut(name, ".")
		obj := s.scope(pkg).Lookup(typ)
		if obj == nil {
			t.Fatalf("no type %s", name)
		}
		s.roots[schema] = obj.Type()
	}
	return s
}

func (s *source) scope(pkg string) *types.Scope {
	for _, p := range s.pkgs {
		if p.PkgPath == module+pkg {
			return p.Types.Scope()
		}
	}
	return types.NewScope(nil, token.NoPos, token.NoPos, "")
}

// look records a node's comment, and a literal that states a schema.
func (s *source) look(p *packages.Package, n ast.Node) {
	switch n := n.(type) {
	case *ast.Field:
		for _, name := range n.Names {
			s.comments[s.at(p, name.Pos())] = comment(n.Doc, n.Comment)
		}
	case *ast.GenDecl:
		for _, spec := range n.Specs {
			if ts, ok := spec.(*ast.TypeSpec); ok && (n.Doc != nil || ts.Doc != nil) {
				doc := ts.Doc
				if doc == nil {
					doc = n.Doc
				}
				s.comments[s.at(p, ts.Name.Pos())] = comment(doc, nil)
			}
		}
	case *ast.CompositeLit:
		st, ok := under(p.TypesInfo.TypeOf(n)).(*types.Struct)
		if !ok || len(n.Elts) == 0 || st.NumFields() == 0 || jsonName(st, 0) != "schema" {
			return
		}
		value := n.Elts[0]
		if kv, ok := value.(*ast.KeyValueExpr); ok {
			value = kv.Value
		}
		if v := p.TypesInfo.Types[value].Value; v != nil && v.Kind() == constant.String {
			if schema := constant.StringVal(v); schemaName.MatchString(schema) {
				s.roots[schema] = p.TypesInfo.TypeOf(n)
			}
		} else if strings.HasPrefix(types.ExprString(value), `"hone/" + `) { // the graph and its text forms
			for _, name := range []string{"graph", "tree", "peek"} {
				s.roots["hone/"+name+"/v1"] = p.TypesInfo.TypeOf(n)
			}
		}
	}
}

var schemaName = regexp.MustCompile(`^hone/[a-z/]+/v[0-9]+$`)

func under(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	return t.Underlying()
}

func (s *source) at(p *packages.Package, pos token.Pos) string {
	where := p.Fset.Position(pos)
	return fmt.Sprintf("%s:%d", where.Filename, where.Line)
}

// comment returns the comment above and after a field, in one line.
func comment(groups ...*ast.CommentGroup) string {
	var words []string
	for _, g := range groups {
		words = append(words, strings.Fields(g.Text())...)
	}
	return strings.Join(words, " ")
}

// page writes all schemas.
func (s *source) page(t *testing.T) []byte {
	t.Helper()
	commands := printed()
	var schemas []string
	for schema := range s.roots {
		schemas = append(schemas, schema)
		if commands[schema] == "" {
			t.Errorf("%s: printed() does not say which command prints it", schema)
		}
	}
	for schema := range commands {
		if s.roots[schema] == nil {
			t.Errorf("%s is printed by no code", schema)
		}
	}
	slices.Sort(schemas)
	// The findings come first, because scripts read mostly them.
	slices.SortStableFunc(schemas, func(a, b string) int { return rankOf(a) - rankOf(b) })
	s.out.WriteString(jsonIntro)
	for _, schema := range schemas {
		fmt.Fprintf(&s.out, "## %s\n\n%s.\n\n", schema, commands[schema])
		s.table(t, schema, s.roots[schema], streamed()[schema])
	}
	return s.out.Bytes()
}

func rankOf(schema string) int {
	if strings.HasPrefix(schema, "hone/findings/") {
		return 0
	}
	return 1
}

// table writes the fields of a struct, then the types that they refer to and that are not on the
// page yet.
func (s *source) table(t *testing.T, schema string, root types.Type, more [][2]string) {
	t.Helper()
	st, ok := under(root).(*types.Struct)
	if !ok {
		t.Errorf("%s is a %s", schema, root)
		return
	}
	var needs []types.Type
	s.out.WriteString("| field | type | |\n|---|---|---|\n")
	s.fields(schema, st, &needs)
	for _, m := range more {
		if typ := s.local(m[1]); typ != nil {
			fmt.Fprintf(&s.out, "| `%s` | %s |  |\n", m[0], "list of "+s.word(schema, typ, &needs))
		} else {
			t.Errorf("no local type %s", m[1])
		}
	}
	s.out.WriteString("\n")
	for _, n := range needs {
		heading := s.heading(schema, n)
		if s.done[heading] {
			continue
		}
		s.done[heading] = true
		fmt.Fprintf(&s.out, "### %s\n\n", heading)
		if doc := s.comments[s.where(n)]; doc != "" {
			fmt.Fprintf(&s.out, "%s\n\n", escape(doc))
		}
		s.table(t, schema, n, nil)
	}
}

// fields writes the fields of a struct; those of an embedded struct count as its own.
func (s *source) fields(schema string, st *types.Struct, needs *[]types.Type) {
	for i := range st.NumFields() {
		f := st.Field(i)
		name := jsonName(st, i)
		if f.Embedded() && reflect.StructTag(st.Tag(i)).Get("json") == "" {
			if inner, ok := under(pointed(f.Type())).(*types.Struct); ok {
				s.fields(schema, inner, needs)
				continue
			}
		}
		if name == "" || !f.Exported() {
			continue
		}
		word := s.word(schema, f.Type(), needs)
		if tag := reflect.StructTag(st.Tag(i)).Get("json"); strings.Contains(tag, ",omit") {
			word += ", optional"
		}
		fmt.Fprintf(&s.out, "| `%s` | %s | %s |\n", name, word, escape(s.comments[s.position(f.Pos())]))
	}
}

// word returns the JSON type of a type, and records the structs that it refers to.
func (s *source) word(schema string, t types.Type, needs *[]types.Type) string {
	if n, ok := types.Unalias(pointed(t)).(*types.Named); ok {
		switch {
		case n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "time" && n.Obj().Name() == "Time":
			return "time (RFC 3339)"
		case has(n, "MarshalText"):
			return "string"
		}
		for other, root := range s.roots {
			if types.TypeString(root, nil) == types.TypeString(n, nil) && other != schema && !strings.HasPrefix(other, "hone/trace/") {
				return "as [" + other + "](#" + anchor(other) + ")"
			}
		}
	}
	switch u := under(t).(type) {
	case *types.Pointer:
		return s.word(schema, u.Elem(), needs)
	case *types.Slice:
		if b, ok := under(u.Elem()).(*types.Basic); ok && b.Kind() == types.Byte {
			return "string (base64)"
		}
		return "list of " + s.word(schema, u.Elem(), needs)
	case *types.Array:
		return "list of " + s.word(schema, u.Elem(), needs)
	case *types.Map:
		return "object of " + s.word(schema, u.Elem(), needs) + " by name"
	case *types.Struct:
		*needs = append(*needs, pointed(t))
		heading := s.heading(schema, pointed(t))
		return "[" + heading[strings.LastIndexByte(heading, ' ')+1:] + "](#" + anchor(heading) + ")"
	case *types.Basic:
		switch {
		case u.Info()&types.IsString != 0:
			return "string"
		case u.Info()&types.IsBoolean != 0:
			return "boolean"
		case u.Info()&types.IsInteger != 0:
			return "integer"
		}
		return "number"
	}
	return "any"
}

// heading names a struct: a named type once for the page, a local or unnamed one once for each
// schema.
func (s *source) heading(schema string, t types.Type) string {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok {
		return schema + " object"
	}
	if n.Obj().Parent() != nil && n.Obj().Pkg() != nil && n.Obj().Parent() == n.Obj().Pkg().Scope() && n.Obj().Exported() {
		return "type " + n.Obj().Pkg().Name() + "." + n.Obj().Name()
	}
	return schema + " " + strings.TrimSuffix(n.Obj().Name(), "JSON")
}

// local returns the name of a type that is declared in a function: "Function.type".
func (s *source) local(name string) types.Type {
	function, typ, _ := strings.Cut(name, ".")
	for _, p := range s.pkgs {
		for id, obj := range p.TypesInfo.Defs {
			tn, ok := obj.(*types.TypeName)
			if !ok || id.Name != typ || tn.Parent() == p.Types.Scope() {
				continue
			}
			if f, ok := p.Types.Scope().Lookup(function).(*types.Func); ok && f.Scope().Contains(id.Pos()) {
				return tn.Type()
			}
		}
	}
	return nil
}

func (s *source) where(t types.Type) string {
	if n, ok := types.Unalias(t).(*types.Named); ok {
		return s.position(n.Obj().Pos())
	}
	return ""
}

// position finds a position: all packages share a file set.
func (s *source) position(pos token.Pos) string { return s.at(s.pkgs[0], pos) }

func jsonName(st *types.Struct, i int) string {
	name, _, _ := strings.Cut(reflect.StructTag(st.Tag(i)).Get("json"), ",")
	switch name {
	case "-":
		return ""
	case "":
		return st.Field(i).Name()
	}
	return name
}

func pointed(t types.Type) types.Type {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

func has(t types.Type, method string) bool {
	return types.NewMethodSet(types.NewPointer(t)).Lookup(nil, method) != nil
}

// escape escapes a comment for a cell of a table, without the brackets of doc links.
func escape(text string) string {
	text = regexp.MustCompile(`\[([A-Za-z]+(\.[A-Za-z]+)*)\]`).ReplaceAllString(text, "$1")
	return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(text)
}

// anchor returns the link target of a heading on the usual sites.
func anchor(heading string) string {
	return regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(strings.ReplaceAll(heading, " ", "-")), "")
}

// TestTraceViewsAreDocumented: every view of hone trace that prints JSON has its type here.
func TestTraceViewsAreDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "internal", "cli", "traceviews.go"))
	if err != nil {
		t.Fatal(err)
	}
	views := regexp.MustCompile(`name: +"([a-z]+)"`).FindAllStringSubmatch(string(text), -1)
	if len(views) < 10 {
		t.Fatalf("%d views", len(views))
	}
	for _, v := range views {
		switch v[1] {
		case "cut", "anonymize", "events": // traces, and events one per line without a schema
		default:
			if traceViews()[v[1]] == "" {
				t.Errorf("hone trace %s: its type is not in traceViews", v[1])
			}
		}
	}
}
