package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// TestMain lets the test binary be what is started of this program.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "child", "relay", "reverse", "typed":
			main()
		case "parting": // a child that has a last word
			_ = dispatch(context.Background(), []string{"child"}, os.Stdin, os.Stdout, os.Stderr)
			fmt.Fprintln(os.Stderr, "the last words of a front")
			os.Exit(1)
		}
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if compiled.clean != nil {
			compiled.clean()
		}
		os.Exit(code)
	}))
}

func TestUsage(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
		code int
		want string // on standard error
	}{
		{"help", []string{"--help"}, 0, "-peer command line"},
		{"unknown command", []string{"measure"}, 2, `there is no command "measure"`},
		{"unknown flag", []string{"--fast"}, 2, "flag provided but not defined: -fast"},
		{"bad expression", []string{"--only", "("}, 2, "missing closing )"},
		{"an unknown set", []string{"find", "--set", "x=y"}, 2, "want SET=CHECKOUT"},
		{"no such data", []string{"find", "--data", "/nowhere/at/all"}, 1, "/nowhere/at/all"},
		{"relay of nothing", []string{"relay"}, 2, "relay needs the command of a server"},
		{"typed of nothing", []string{"typed", "--http", ":0"}, 2, "typed needs the command of a server"},
		{"relay of no program", []string{"relay", "--", "/nowhere/at/all"}, 1, "/nowhere/at/all"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			if got := run(t.Context(), test.args, strings.NewReader(""), &out, &errs); got != test.code {
				t.Errorf("got exit code %d, want %d", got, test.code)
			}
			if !strings.Contains(errs.String(), test.want) {
				t.Errorf("got %q on standard error, want %q in it", errs.String(), test.want)
			}
			if out.Len() > 0 {
				t.Errorf("got %q on standard output, want nothing", out.String())
			}
		})
	}
}
