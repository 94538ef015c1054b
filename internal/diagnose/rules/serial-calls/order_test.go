package serialcalls

import (
	"fmt"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/diagnose/syntax"
)

const program = `package main

import "net/http"

type user struct {
	ID    string
	Admin bool
	Tags  []string
}

type page struct {
	User   *user
	Orders []string

	own, others lister
}

type lister interface{ list(id string) ([]string, error) }

func find(id string) (lister, error) { return nil, nil }

func load(id string) (*user, error)             { return nil, nil }
func list(id string) ([]string, error)          { return nil, nil }
func show(u *user) ([]string, error)            { return nil, nil }
func allowed(id string) bool                    { return id != "" }
func fill(id string, to *user) ([]string, error) { return nil, nil }

func serve(w http.ResponseWriter, r *http.Request, id string) error {
	var p page
	_ = p
%s
	return nil
}

func main() { _ = serve(nil, nil, "") }
`

// TestNeeds: whether the call of the line "second" needs that of the line "first".
func TestNeeds(t *testing.T) {
	for _, test := range []struct {
		what, code string
		want       bool
	}{
		{"apart", "u, err := load(id) //@ first\nif err != nil { return err }\n_ = u\no, err := list(id) //@ second\n_, _ = o, err", false},
		{"argument", "u, _ := load(id) //@ first\no, _ := show(u) //@ second\n_ = o", true},
		{"computed argument", "u, _ := load(id) //@ first\nkey := \"of \" + u.ID\no, _ := list(key) //@ second\n_ = o", true},
		{"by address", "var u user\nt, _ := fill(id, &u) //@ first\n_ = t\no, _ := list(u.ID) //@ second\n_ = o", true},
		{"other part", "p.User, _ = load(id) //@ first\np.Orders, _ = list(id) //@ second", false},
		{"whole of a part", "p.User, _ = load(id) //@ first\np.Orders, _ = show(p.User) //@ second", true},
		{"not found", "u, _ := load(id) //@ first\nif u == nil { return nil }\no, _ := list(id) //@ second\n_ = o", false},
		{"permission", "u, _ := load(id) //@ first\nif !u.Admin { return nil }\no, _ := list(id) //@ second\n_ = o", true},
		{"under a condition", "u, _ := load(id) //@ first\nif u.Admin {\no, _ := list(id) //@ second\n_ = o\n}", true},
		{"enough already", "u, _ := load(id) //@ first\nif u != nil { return nil }\no, _ := list(id) //@ second\n_ = o", true},
		{"after a failure", "u, err := load(id) //@ first\nif err != nil {\no, _ := list(id) //@ second\n_ = o\n}\n_ = u", true},
		{"only after a failure", "if u, err := load(id); err == nil { //@ first\n_ = u\nreturn nil\n}\no, _ := list(id) //@ second\n_ = o", true},
		{"used after", "u, _ := load(id) //@ first\no, _ := list(id) //@ second\n_, _ = u.ID, o", false},
		{"written before", "u, _ := load(id) //@ first\nw.Write([]byte(u.ID))\no, _ := list(id) //@ second\n_ = o", false},
		{"in a loop", "u, _ := load(id) //@ first\nkey := id\nfor _, t := range u.Tags { key += t }\no, _ := list(key) //@ second\n_ = o", true},
		{"declared", "var u, _ = load(id) //@ first\nvar o, _ = list(id) //@ second\n_, _ = u, o", false},
		{"declared from it", "var u, _ = load(id) //@ first\nvar key = \"of \" + u.ID\nvar o, _ = list(key) //@ second\n_ = o", true},
		{"in a condition", "if allowed(id) { //@ first\no, _ := list(id) //@ second\n_ = o\n}", true},
		{"in a switch", "switch allowed(id) { //@ first\ncase true:\no, _ := list(id) //@ second\n_ = o\n}", true},
		{"permission in a switch", "u, _ := load(id) //@ first\nswitch {\ncase !u.Admin: return nil\n}\no, _ := list(id) //@ second\n_ = o", true},
		{"permission by a tag", "u, _ := load(id) //@ first\nswitch u.ID {\ncase \"a\": return nil\n}\no, _ := list(id) //@ second\n_ = o", true},
		{"under a switch", "u, _ := load(id) //@ first\nswitch u.ID {\ncase \"a\":\no, _ := list(id) //@ second\n_ = o\n}", true},
		{"under a case", "u, _ := load(id) //@ first\nswitch id {\ncase u.ID:\no, _ := list(id) //@ second\n_ = o\n}", true},
		{"two conditions", "u, _ := load(id) //@ first\nif u != nil && !u.Admin { return nil }\no, _ := list(id) //@ second\n_ = o", true},
		{"status", "res, _ := http.Get(id) //@ first\nif res.StatusCode != 200 { return nil }\no, _ := list(id) //@ second\n_ = o", false},
		{"same helper", "a, err := p.own.list(id) //@ first\nif err != nil { return err }\nb, err := p.others.list(id) //@ second\n_, _, _ = a, b, err", false},
		{"only if there is none", "a, err := p.own.list(id) //@ first\nif err != nil { return err }\nif len(a) == 0 {\na, err = p.others.list(id) //@ second\n}\n_, _ = a, err", true},
		{"joined errors", "a, err := p.own.list(id) //@ first\nb, err2 := p.others.list(id) //@ second\n_, _, _ = a, b, err == nil && err2 == nil", false},
		{"next page", "a, err := p.own.list(id) //@ first\nif err != nil { return err }\nb, err := p.others.list(a[len(a)-1]) //@ second\n_, _ = b, err", true},
		{"result in a field", "var err error\nif p.Orders, err = p.own.list(id); err != nil { return err } //@ first\nif p.User.Tags, err = p.others.list(id); err != nil { return err } //@ second", false},
		{"receiver from it", "place, err := find(id) //@ first\nif err != nil { return err }\nb, err := place.list(id) //@ second\n_, _ = b, err", true},
	} {
		t.Run(test.what, func(t *testing.T) {
			places := ruletest.Places(t, fmt.Sprintf(program, test.code))
			first, second := places["first"], places["second"]
			if got := needs(first, syntax.Calls(first)[0], syntax.Calls(second)[0]); got != test.want {
				t.Errorf("%t, want %t", got, test.want)
			}
		})
	}
}
