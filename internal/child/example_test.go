//go:build unix

package child_test

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"os"

	"github.com/mcp-workbench/workbench/internal/child"
)

func ExampleStart() {
	p, err := child.Start(child.Spec{
		Command: "sh",
		Args:    []string{"-c", `read name; echo "hello $name"; cat`},
		Env:     child.SafeEnv(os.LookupEnv),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Fprintln(p.Stdin(), "world")
	line, _ := bufio.NewReader(p.Stdout()).ReadString('\n')
	fmt.Print(line)
	if err := p.Stop(context.Background(), child.Grace{}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Exit())
	// Output:
	// hello world
	// exit status 0
}

func ExampleNewGuard() {
	self, err := os.Executable()
	if err != nil {
		log.Fatal(err)
	}
	guard := child.NewGuard([]string{self, "__guard"}) // where the program calls os.Exit(child.RunGuard())
	defer guard.Close()
	p, err := guard.Start(child.Spec{Command: "/bin/cat"})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Stop(context.Background(), child.Grace{})
}
