package wiretest_test

import (
	"bufio"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain is also the process that the tests start: it answers each line with the line itself as the result, and with
// the argument "stay" it outlives its input, until it is killed.
func TestMain(m *testing.M) {
	switch os.Getenv("WIRETEST_CHILD") {
	case "echo":
		fmt.Fprintln(os.Stderr, "echo begins")
		lines := bufio.NewScanner(os.Stdin)
		for lines.Scan() {
			fmt.Printf(`{"jsonrpc":"2.0","id":1,"result":%s}`+"\n", lines.Text())
		}
		os.Exit(3)
	case "stay":
		fmt.Println(`{"jsonrpc":"2.0","method":"notifications/up"}`)
		time.Sleep(time.Hour) // longer than any test; nothing else here would keep the runtime from calling it a deadlock
	}
	goleak.VerifyTestMain(m)
}
