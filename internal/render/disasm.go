package render

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/disasm"
	"github.com/hone-go/hone/internal/inspect"
	"github.com/hone-go/hone/profile/measure"
)

// instructionWidth is the number of columns for an instruction; its source line follows.
const instructionWidth = 40

// Disasm draws instructions with flat and cum in front. The text after an instruction also applies
// to those below it, until there is another: the source line, for an inlined call the function and
// the call sites, and the line's text.
func Disasm(w io.Writer, d *inspect.Disassembly, s Style) {
	v := d.View
	unit := v.Unit
	if unit == "minimum" {
		unit = "auto"
	}
	value := func(x int64) string {
		if x == 0 {
			return "."
		}
		return v.Readable(x, unit)
	}
	for i := range d.Functions {
		f := &d.Functions[i]
		if i > 0 {
			fmt.Fprintln(w)
		}
		line(w, "%s in %s (%s)", s.paint(strong, f.Name), f.Binary, f.Arch)
		line(w, "%10s %10s (flat, cum) %s of %s", value(f.Flat), value(f.Cum),
			strings.TrimSpace(measure.Percent(f.Cum, v.Total)), v.SampleType.Type)
		var last []disasm.Frame
		for k := range f.Insts {
			in := &f.Insts[k]
			costs := fmt.Sprintf("%10s %10s %10x  ", value(in.Flat), value(in.Cum), in.Addr)
			free := in.Flat == 0 && in.Cum == 0
			if free {
				costs = s.paint(faint, costs)
			}
			if slices.Equal(in.Frames, last) && k > 0 {
				line(w, "%s", costs+in.Text)
			} else {
				last = in.Frames
				where := strings.TrimSpace(framePlace(in.Frames) + "  " + in.Source)
				line(w, "%s", strings.TrimRight(costs+padRight(in.Text, instructionWidth)+"  "+s.paint(faint, where), " "))
			}
			for _, r := range in.Remarks {
				const indent = "                                  " // below the instruction
				fmt.Fprintln(w, s.paint(code, indent+wrap("^ "+r.Text, indent+"  ", s.width())))
			}
		}
	}
	for _, n := range d.Notes {
		fmt.Fprintln(w, s.paint(faint, wrap("note: "+n, "", s.width())))
	}
}

// framePlace names the line of an instruction, and the inlined calls that it belongs to.
func framePlace(frames []disasm.Frame) string {
	var b strings.Builder
	for i, f := range frames {
		if i > 0 {
			b.WriteString(" < ")
		}
		fmt.Fprintf(&b, "%s:%d", path.Base(strings.ReplaceAll(f.File, `\`, "/")), f.Line)
		if i+1 < len(frames) {
			b.WriteString(" " + f.Function)
		}
	}
	return b.String()
}

// DisasmJSON returns the JSON form of `hone disasm`. Addresses are those in the file, in
// hexadecimal; frames are innermost first.
func DisasmJSON(source string, d *inspect.Disassembly) any {
	type frame struct {
		Function string `json:"function"`
		File     string `json:"file"`
		Line     int    `json:"line"`
	}
	type remark struct {
		Kind string `json:"kind"`
		Text string `json:"text"`
	}
	type instruction struct {
		Address string   `json:"address"`
		Bytes   int      `json:"bytes"`
		Text    string   `json:"text"`
		Flat    int64    `json:"flat"`
		Cum     int64    `json:"cum"`
		Frames  []frame  `json:"frames,omitempty"`
		Source  string   `json:"source,omitempty"`
		Remarks []remark `json:"remarks,omitempty"`
	}
	type function struct {
		Function     string        `json:"function"`
		Binary       string        `json:"binary"`
		Arch         string        `json:"arch"`
		Address      string        `json:"address"`
		Flat         int64         `json:"flat"`
		Cum          int64         `json:"cum"`
		Instructions []instruction `json:"instructions"`
	}
	functions := []function{}
	for i := range d.Functions {
		f := &d.Functions[i]
		fn := function{f.Name, f.Binary, f.Arch, fmt.Sprintf("%#x", f.Entry), f.Flat, f.Cum, []instruction{}}
		for _, in := range f.Insts {
			var frames []frame
			for _, x := range in.Frames {
				frames = append(frames, frame{x.Function, x.File, x.Line})
			}
			var remarks []remark
			for _, r := range in.Remarks {
				remarks = append(remarks, remark{r.Kind, r.Text})
			}
			fn.Instructions = append(fn.Instructions, instruction{fmt.Sprintf("%#x", in.Addr), in.Size, in.Text, in.Flat, in.Cum, frames, in.Source, remarks})
		}
		functions = append(functions, fn)
	}
	return struct {
		Schema     string     `json:"schema"`
		Source     string     `json:"source"`
		SampleType string     `json:"sample_type"`
		Unit       string     `json:"unit"`
		Total      int64      `json:"total"`
		Functions  []function `json:"functions"`
		Notes      []string   `json:"notes,omitempty"`
	}{"hone/disasm/v1", source, d.View.SampleType.Type, d.View.SampleType.Unit, d.View.Total, functions, d.Notes}
}
