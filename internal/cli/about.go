package cli

import (
	"context"
	"flag"
	"fmt"
	"io"
	"runtime"

	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/doctor"
	"github.com/hone-go/hone/internal/render"
)

func versionCommand() command {
	return command{
		name: "version", group: "about hone",
		short: "print hone's version",
		setup: func(fs *flag.FlagSet) runFunc {
			asJSON := fs.Bool("json", false, "print JSON with a versioned schema")
			return func(_ context.Context, env Env, _, _ []string) error {
				if *asJSON {
					return render.JSON(env.Stdout, struct {
						Schema string `json:"schema"`
						Hone   string `json:"hone"`
						Go     string `json:"go"` // release that built it
						OS     string `json:"os"`
						Arch   string `json:"arch"`
					}{"hone/version/v1", env.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH})
				}
				_, err := fmt.Fprintf(env.Stdout, "hone %s %s %s/%s\n", env.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
				return err
			}
		},
	}
}

func doctorCommand() command {
	return command{
		name: "doctor", group: "about hone",
		short: "check what is missing or limits measurement on this machine",
		setup: func(fs *flag.FlagSet) runFunc {
			var out outputFlags
			out.declare(fs, "")
			return func(ctx context.Context, env Env, _, _ []string) error {
				checks := doctor.Run(ctx, doctor.Config{CacheDir: env.CacheDir, Dir: env.Dir})
				if out.json {
					return render.JSON(env.Stdout, struct {
						Schema string         `json:"schema"`
						Checks []doctor.Check `json:"checks"`
					}{"hone/doctor/v1", checks})
				}
				return buffered(env.Stdout, func(w io.Writer) error {
					render.Doctor(w, checks, out.style(env))
					return nil
				})
			}
		},
	}
}

func rulesCommand() command {
	return command{
		name: "rules", args: "[RULE]", group: "about hone",
		short: "list the mistakes that hone knows, or explain one",
		examples: []string{
			"hone rules",
			"hone rules concat-loop",
			"hone rules -markdown",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			page := fs.Bool("markdown", false, "print the catalogue as a Markdown page, with a paragraph for each rule")
			asJSON := fs.Bool("json", false, "print JSON with a versioned schema")
			return func(_ context.Context, env Env, args, _ []string) error {
				rules := diagnose.Rules()
				if *asJSON && *page {
					return usagef("rules: give either -markdown or -json")
				}
				if *asJSON && len(args) == 0 {
					return render.JSON(env.Stdout, render.RulesJSON(rules))
				}
				if len(args) == 0 {
					return buffered(env.Stdout, func(w io.Writer) error {
						if *page {
							render.RulesMarkdown(w, rules)
						} else {
							render.Rules(w, rules, (&outputFlags{}).style(env))
						}
						return nil
					})
				}
				if *page {
					return usagef("rules: -markdown prints all rules; leave %q out", args[0])
				}
				if r, ok := diagnose.Explain(args[0]); ok {
					if *asJSON {
						return render.JSON(env.Stdout, render.RulesJSON([]rule.Rule{r}))
					}
					return buffered(env.Stdout, func(w io.Writer) error {
						render.Rule(w, r, (&outputFlags{}).style(env))
						return nil
					})
				}
				var ids []string
				for _, r := range rules {
					ids = append(ids, r.ID)
				}
				return usagef("rules: unknown rule %q%s; `hone rules` lists the rules", args[0], suggest(args[0], ids))
			}
		},
	}
}
