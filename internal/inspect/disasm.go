package inspect

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/hone-go/hone/internal/disasm"
	"github.com/hone-go/hone/internal/source"
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/report"
)

// Disassembly is the machine code of functions, with the cost of each instruction.
type Disassembly struct {
	View      *report.View
	Functions []DisassembledFunc // by name and address
	Notes     []string           // which remarks are not available; see AddInstRemarks
}

// DisassembledFunc is one function of a binary.
type DisassembledFunc struct {
	disasm.Func
	Binary    string // path of the file that the code was read from
	Arch      string // a GOARCH
	Flat, Cum int64  // a sample counts once for cum
	Insts     []CostedInst
}

// CostedInst is an instruction, its cost, and the text of the line that it comes from.
type CostedInst struct {
	disasm.Inst
	Flat, Cum int64
	Source    string   // innermost line; "" when there is no source
	Remarks   []Remark // see AddInstRemarks
}

// DisasmOptions says where the code is and how to write it.
type DisasmOptions struct {
	Binary string // the program, if it is not at the path in the profile
	Syntax disasm.Syntax
}

// Disassemble finds the functions of the program whose name matches re, or that have the address
// that re is, and that have a cost in the view of src.
func Disassemble(ctx context.Context, open source.Opener, src *source.Source, v *report.View, re *regexp.Regexp, o DisasmOptions) (*Disassembly, error) {
	d := &Disassembly{View: v}
	wanted := newWanted(re)
	var inlined []string // functions into which a wanted one is inlined
	for _, m := range mappingsWith(v.Profile, wanted) {
		prog, err := openProgram(ctx, open, src, m, o.Binary)
		if err != nil {
			return nil, err
		}
		found, err := prog.functions(v, wanted, o.Syntax)
		inlined = append(inlined, prog.hosts(v.Profile, wanted)...)
		prog.close()
		if err != nil {
			return nil, err
		}
		d.Functions = append(d.Functions, found...)
	}
	if len(d.Functions) == 0 {
		return nil, notFound(src.Name, v, re, inlined)
	}
	slices.SortStableFunc(d.Functions, func(a, b DisassembledFunc) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Entry, b.Entry))
	})
	for i := range d.Functions {
		addSource(src, v, d.Functions[i].Insts)
	}
	return d, nil
}

func notFound(name string, v *report.View, re *regexp.Regexp, inlined []string) error {
	if len(inlined) > 0 {
		slices.Sort(inlined)
		inlined = slices.Compact(inlined)
		const few = 5
		more := ""
		if len(inlined) > few {
			more = fmt.Sprintf(" and %d more", len(inlined)-few)
			inlined = inlined[:few]
		}
		return fmt.Errorf("%s: functions that match %q are inlined wherever they cost something; their instructions are in %s%s",
			name, re, strings.Join(inlined, ", "), more)
	}
	return fmt.Errorf("%s: no function that matches %q costs anything in %s; `hone top -top -1` shows all", name, re, v.SampleType.Type)
}

// wanted is what the user asked for: functions by name, or the one at an address.
type wanted struct {
	re      *regexp.Regexp
	address uint64
	byAddr  bool
}

func newWanted(re *regexp.Regexp) wanted {
	address, err := strconv.ParseUint(re.String(), 0, 64)
	return wanted{re, address, err == nil}
}

func (w wanted) name(s string) bool { return s != "" && w.re.MatchString(s) }

// mappingsWith returns the mappings with a location that may be wanted, in the profile's order; −1
// represents locations without a mapping.
func mappingsWith(p *profile.Profile, w wanted) []int32 {
	matches := make([]bool, len(p.Functions))
	for i := range p.Functions {
		matches[i] = w.name(p.Functions[i].Name)
	}
	var out []int32
	for i := range p.Locations {
		l := &p.Locations[i]
		if slices.Contains(out, l.Mapping) {
			continue
		}
		hit := slices.ContainsFunc(l.Lines, func(ln profile.Line) bool { return matches[ln.Func] })
		if w.byAddr && l.Mapping >= 0 {
			m := p.Mappings[l.Mapping]
			hit = hit || m.Start <= w.address && w.address < m.Limit
		}
		if hit {
			out = append(out, l.Mapping)
		}
	}
	slices.Sort(out)
	return out
}

// program is an opened binary that a mapping of the profile refers to.
type program struct {
	*disasm.Binary
	name    string // for display: its path, or what it was built from
	mapping int32
	bias    uint64
	rebuilt bool
	remove  func() error // removes what was built for this report
}

func (g *program) close() {
	g.Close()
	if g.remove != nil {
		g.remove() //nolint:errcheck // the next build tries again
	}
}

// at returns the address in the file of a location; false if the location is not in this program.
func (g *program) at(l *profile.Location) (uint64, bool) {
	return l.Address - g.bias, l.Mapping == g.mapping && l.Address != 0
}

// functions disassembles the wanted functions that have samples.
func (g *program) functions(v *report.View, w wanted, syntax disasm.Syntax) ([]DisassembledFunc, error) {
	found, byFunc := g.find(v.Profile, w)
	costs, err := sumGroups(v, byFunc, len(found))
	if err != nil {
		return nil, err
	}
	var out []DisassembledFunc
	var insts []disasm.Inst // of all functions, concatenated
	base := make([]int, len(found))
	for n, f := range found {
		base[n] = -1
		if costs[n] == (profile.GroupCost{}) {
			continue
		}
		code, err := g.Disassemble(f, syntax)
		if err != nil {
			return nil, err
		}
		base[n] = len(insts)
		insts = append(insts, code...)
		out = append(out, DisassembledFunc{
			Func: f, Binary: g.name, Arch: g.Arch, Flat: costs[n].Flat, Cum: costs[n].Cum, Insts: make([]CostedInst, len(code)),
		})
	}
	byInst := make([]int32, len(byFunc))
	for i, n := range byFunc {
		byInst[i] = -1
		if n >= 0 && base[n] >= 0 {
			at, _ := g.at(&v.Profile.Locations[i])
			byInst[i] = int32(base[n] + instAt(insts[base[n]:], found[n], at))
		}
	}
	costs, err = sumGroups(v, byInst, len(insts))
	if err != nil {
		return nil, err
	}
	next := 0
	for n := range out {
		for k := range out[n].Insts {
			out[n].Insts[k] = CostedInst{Inst: insts[next], Flat: costs[next].Flat, Cum: costs[next].Cum}
			next++
		}
	}
	return out, nil
}

// find lists the wanted functions that have locations and, for each location, the index of its
// function, or −1.
func (g *program) find(p *profile.Profile, w wanted) (found []disasm.Func, byFunc []int32) {
	index := map[uint64]int32{} // by entry
	byFunc = make([]int32, len(p.Locations))
	for i := range p.Locations {
		byFunc[i] = -1
		at, ok := g.at(&p.Locations[i])
		if !ok {
			continue
		}
		f, ok := g.FuncAt(at)
		if !ok || !w.name(f.Name) && !(w.byAddr && (f.Has(w.address) || f.Has(w.address-g.bias))) {
			continue
		}
		n, known := index[f.Entry]
		if !known {
			n = int32(len(found))
			index[f.Entry] = n
			found = append(found, f)
		}
		byFunc[i] = n
	}
	return found, byFunc
}

// instAt returns which instruction of f, the first of insts, has an address. The runtime records
// the exact address of the leaf, and for callers the return address minus one, which is inside the
// call.
func instAt(insts []disasm.Inst, f disasm.Func, at uint64) int {
	return sort.Search(len(insts), func(i int) bool { return insts[i].Addr > at || insts[i].Addr >= f.End || insts[i].Addr < f.Entry }) - 1
}

// sumGroups is Profile.SumGroups of the view's value, or of its mean. With DropNegative, negative
// sums count as zero.
func sumGroups(v *report.View, group []int32, n int) ([]profile.GroupCost, error) {
	costs, err := v.Profile.SumGroups(v.Index, group, n)
	if err != nil {
		return nil, err
	}
	var counts []profile.GroupCost
	if v.Mean {
		if counts, err = v.Profile.SumGroups(0, group, n); err != nil {
			return nil, err
		}
	}
	for i := range costs {
		c := &costs[i]
		if v.Mean && counts[i].Flat != 0 {
			c.Flat /= counts[i].Flat
		}
		if v.Mean && counts[i].Cum != 0 {
			c.Cum /= counts[i].Cum
		}
		if v.DropNegative && (c.Flat < 0 || c.Flat == 0 && c.Cum < 0) {
			*c = profile.GroupCost{}
		}
	}
	return costs, nil
}

// hosts lists the functions of the program into which a wanted function was inlined.
func (g *program) hosts(p *profile.Profile, w wanted) []string {
	var out []string
	for i := range p.Locations {
		l := &p.Locations[i]
		at, ok := g.at(l)
		if !ok || len(l.Lines) < 2 {
			continue
		}
		if f, ok := g.FuncAt(at); ok && slices.ContainsFunc(l.Lines, func(ln profile.Line) bool { return w.name(p.Functions[ln.Func].Name) }) {
			out = append(out, f.Name)
		}
	}
	return out
}

// addSource adds the text of each instruction's innermost line, if the source is available.
func addSource(src *source.Source, v *report.View, insts []CostedInst) {
	type place struct {
		file string
		line int
	}
	texts := map[place]string{}
	for i := range insts {
		if len(insts[i].Frames) == 0 {
			continue
		}
		at := place{insts[i].Frames[0].File, insts[i].Frames[0].Line}
		text, known := texts[at]
		if !known {
			file := at.file
			if v.SourcePath != "" {
				file = sourceFile(src, v, file)
			}
			if lines, err := src.Code.Lines(file, at.line, at.line); err == nil && len(lines) == 1 {
				text = strings.ReplaceAll(strings.TrimSpace(lines[0]), "\t", " ")
			}
			texts[at] = text
		}
		insts[i].Source = text
	}
}
