package main

import (
	"path"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose"
)

// verdict is the result of one run for one culprit.
type verdict struct {
	culprit culprit
	rank    int               // among findings in code, or among settings; 0 if not found
	finding *diagnose.Finding // nil if not found
	also    *diagnose.Finding // the finding listed under Also, if that is the culprit
	near    string            // if the culprit was not found: what the report has in its function
}

// judge looks for each culprit of a program in its report.
func judge(p program, report *diagnose.Report) []verdict {
	var verdicts []verdict
	for _, c := range p.culprits {
		v := verdict{culprit: c}
		list := report.Findings
		if c.setting {
			list = report.Settings
		}
		for i := range list {
			f := &list[i]
			also := slices.IndexFunc(f.Also, func(also diagnose.Finding) bool { return c.is(&also) })
			if also >= 0 {
				v.also = &f.Also[also]
			}
			if also >= 0 || c.is(f) {
				v.rank, v.finding = f.Rank, f
				break
			}
		}
		if v.finding == nil {
			v.near = near(c, report)
		}
		verdicts = append(verdicts, v)
	}
	return verdicts
}

// is reports whether a finding matches the culprit in every field.
func (c culprit) is(f *diagnose.Finding) bool {
	return slices.Contains(c.rules, f.Rule) && c.holds(f) && len(c.wrong(f)) == 0
}

// wrong lists the fields of a finding, other than rule and function, that do not match.
func (c culprit) wrong(f *diagnose.Finding) []string {
	var parts []string
	for _, p := range []struct {
		name  string
		right bool
	}{
		{"file", c.file == "" || f.File == c.file},
		{"line", c.source == "" || slices.ContainsFunc(f.Sites, func(s diagnose.SiteRef) bool { return strings.Contains(s.Source, c.source) })},
		{"module", c.module == "" || f.Module == c.module},
		{"version", c.version == "" || f.Version == c.version},
		{"fix", strings.Contains(f.Fix, c.says)},
	} {
		if !p.right {
			parts = append(parts, p.name)
		}
	}
	return parts
}

// holds reports whether the finding is in the culprit's function.
func (c culprit) holds(f *diagnose.Finding) bool {
	if c.function == "" {
		return true
	}
	ok, err := path.Match(c.function, f.Function)
	return ok && err == nil
}

// near describes the other findings in the function of a culprit that was not found.
func near(c culprit, report *diagnose.Report) string {
	if c.function == "" {
		return ""
	}
	var rules []string
	for i := range report.Findings {
		f := &report.Findings[i]
		switch {
		case !c.holds(f):
		case slices.Contains(c.rules, f.Rule):
			rules = append(rules, f.Rule+" with another "+strings.Join(c.wrong(f), " and "))
		default:
			rules = append(rules, f.Rule)
		}
	}
	slices.Sort(rules)
	return strings.Join(slices.Compact(rules), ", ")
}

// accused lists findings of the study's rules that are not culprits of the program. In a repaired
// program, all of them are wrong.
func accused(s study, p program, report *diagnose.Report) []string {
	var rules []string
	for _, p := range s.programs {
		for _, c := range p.culprits {
			if !c.setting {
				rules = append(rules, c.rules...)
			}
		}
	}
	var list []string
	for i := range report.Findings {
		f := &report.Findings[i]
		named := slices.ContainsFunc(p.culprits, func(c culprit) bool { return slices.Contains(c.rules, f.Rule) && c.holds(f) })
		if slices.Contains(rules, f.Rule) && !named {
			list = append(list, f.Rule+" in "+f.Function)
		}
	}
	return list
}
