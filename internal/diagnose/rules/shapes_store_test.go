package rules_test

import (
	"go/ast"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	storescan "github.com/hone-go/hone/internal/diagnose/rules/store-scan"
)

const storeHead = `import (
	"encoding/json"
	"errors"
	"slices"
)

type store struct{ keys, values [][]byte }

func (s *store) forEach(fn func(k, v []byte) error) error {
	for i, k := range s.keys {
		if err := fn(k, s.values[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *store) view(fn func(s *store) error) error { return fn(s) }

type plant struct {
	ID    string
	Latin string
}

type plants map[string]plant

func (ps plants) latin(id string) string { return ps[id].Latin }

func decode(v []byte) (p plant, err error) { return p, json.Unmarshal(v, &p) }

func load(s *store) (map[string]plant, error) {
	all := map[string]plant{}
	err := s.forEach(func(k, v []byte) error {
		p, err := decode(v)
		all[string(k)] = p
		return err
	})
	return all, err
}

func label(all map[string]plant, id string) string { return all[id].Latin }

func each(all map[string]plant) (names []string) {
	for _, p := range all {
		names = append(names, p.Latin)
	}
	slices.Sort(names)
	return names
}

var errNone = errors.New("none")

var last map[string]plant`

// scanned counts runs: a thousand of each function, a thousand entries of each store and each list
// called many, and twenty of each called few.
func scanned(p *rule.Pass) {
	at := p.Table.Sites[0]
	place, _ := p.Syntax.At(at.File, at.Line)
	runs := map[int]uint64{}
	times := func(body *ast.BlockStmt, n uint64) {
		for line := place.Fset.Position(body.Lbrace).Line + 1; line < place.Fset.Position(body.Rbrace).Line; line++ {
			runs[line] = max(runs[line], 1000) * n
		}
	}
	ast.Inspect(place.File, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "few" {
				times(n.Body, 20)
			} else {
				times(n.Body, 1000)
			}
		case *ast.CallExpr:
			sel, method := n.Fun.(*ast.SelectorExpr)
			if lit, ok := n.Args[max(len(n.Args)-1, 0):], method && sel.Sel.Name == "forEach"; ok {
				times(lit[0].(*ast.FuncLit).Body, 1000)
			}
		case *ast.FuncDecl:
			if n.Name.Name == "never" {
				times(n.Body, 0)
			}
		}
		return true
	})
	p.Counts = ranTimes(3000, func(line int) uint64 {
		if n, ok := runs[line]; ok {
			return n
		}
		return 1000
	})
}

// TestStoreScanShapes: what is done with a map of all entries.
func TestStoreScanShapes(t *testing.T) {
	const fill = "\terr := s.forEach(func(k, v []byte) error {\n\t\tp, err := decode(v) @\n\t\tall[string(k)] = p\n\t\treturn err\n\t})\n"
	const own = "func F(s *store, few, many []string) (latin []string, err error) {\n\tall := map[string]plant{}\n" +
		"\terr = s.forEach(func(k, v []byte) error {\n\t\tp, err := decode(v) @\n\t\tall[string(k)] = p\n\t\treturn err\n\t})\n"
	const helper = "func load_N(s *store) (map[string]plant, error) {\n\tall := make(map[string]plant)\n" + fill + "\treturn all, err\n}\n\n"
	const up = "\tfor _, id := range few {\n\t\tlatin = append(latin, all[id].Latin)\n\t}\n\treturn latin, err\n}"
	checkShapesIn(t, storescan.Rule(), storeHead, "encoding/json.Unmarshal main.decode", 0, []shape{
		{own + up, "map all, of which f0 then looks up 20. Read only the entries that are asked for: get each by its key"},
		{helper + "func F(s *store, few []string) (latin []string, err error) {\n\tall, err := load_N(s)\n\tif err != nil {\n\t\treturn nil, err\n\t}\n" + up, "which f1 then looks up 20"},
		{helper + "func names_N(s *store, few []string) (map[string]plant, error) {\n\treturn load_N(s)\n}\n\nfunc F(s *store, few []string) (latin []string, err error) {\n\tvar all map[string]plant\n\terr = s.view(func(s *store) error {\n\t\tall, err = names_N(s, few)\n\t\treturn err\n\t})\n" + up, "which f2 then looks up 20"},
		{helper + "type page_N struct{ byID map[string]plant }\n\nfunc (p *page_N) of(few []string) (latin []string) {\n\tfor _, id := range few {\n\t\tlatin = append(latin, p.byID[id].Latin)\n\t}\n\treturn latin\n}\n\nfunc F(s *store, few []string) ([]string, error) {\n\tall, err := load_N(s)\n\tp := &page_N{byID: all}\n\treturn p.of(few), err\n}", "which of then looks up 20"},
		{own + "\tfor _, id := range few {\n\t\tlatin = append(latin, label(all, id))\n\t}\n\treturn latin, err\n}", "which label then looks up 1."},
		{"func F(s *store, id string) (plant, error) {\n\tall := map[string]plant{}\n\terr := s.forEach(func(_, v []byte) error {\n\t\tp, err := decode(v) @\n\t\tall[p.Latin] = p\n\t\treturn err\n\t})\n\tp, ok := all[id]\n\tif !ok {\n\t\treturn p, errNone\n\t}\n\treturn p, err\n}", "lookups have another key than the store"},
		{helper + "func F(s *store, few []string) (latin []string, err error) {\n\tall, err := load_N(s)\n" + up + "\n\nfunc never(s *store) []string {\n\tall, _ := load_N(s)\n\treturn each(all)\n}", "which f6 then looks up 20"},
		{"func F(s *store, few []string) ([]string, error) {\n\tall, latin := plants{}, []string(nil)\n" + fill + "\tfor _, id := range few {\n\t\tlatin = append(latin, all.latin(id))\n\t}\n\treturn latin, err\n}", "which latin then looks up"},
		// As many lookups as entries.
		{own + "\tfor _, id := range many {\n\t\tlatin = append(latin, all[id].Latin)\n\t}\n\treturn latin, err\n}", ""},
		// All entries are used.
		{own + "\treturn each(all), err\n}", ""},
		{own + "\tlast = all\n" + up, ""},
		{helper + "func F(s *store) ([]string, error) {\n\tall, err := load_N(s)\n\treturn each(all), err\n}", ""},
		{helper + "func F(s *store, few []string) (latin []string, err error) {\n\tall, err := load_N(s)\n" + up + "\n\nfunc g_N(s *store) ([]string, error) {\n\tall, err := load_N(s)\n\tall2, err := load_N(s)\n\treturn append(each(all), each(all2)...), err\n}", ""},
		// Entries are grouped, or more is done with each.
		{"func F(s *store, few []string) (n int, err error) {\n\tall := map[string]int{}\n\terr = s.forEach(func(k, v []byte) error {\n\t\tp, err := decode(v) @\n\t\tall[p.Latin] = all[p.Latin] + 1\n\t\treturn err\n\t})\n\tfor _, id := range few {\n\t\tn += all[id]\n\t}\n\treturn n, err\n}", ""},
		{"func F(s *store, few []string) (n int, err error) {\n\tall, sum := map[string]int{}, 0\n\terr = s.forEach(func(k, v []byte) error {\n\t\tp, err := decode(v) @\n\t\tall[p.ID] = len(v)\n\t\tsum += len(v)\n\t\treturn err\n\t})\n\tfor _, id := range few {\n\t\tn += all[id]\n\t}\n\treturn n * sum, err\n}", ""},
		// The caller's map.
		{"func F(s *store, all map[string]plant, id string) (plant, error) {\n" + fill + "\treturn all[id], err\n}", ""},
		{"var kept_N map[string]plant\n\nfunc F(s *store, id string) (plant, error) {\n\tall := map[string]plant{}\n" + fill + "\tkept_N = all\n\treturn all[id], err\n}", ""},
	}, scanned)
}
