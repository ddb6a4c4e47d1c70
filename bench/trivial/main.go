// Command trivial is the least that a program in Go can be and still shake hands with an MCP client: the start of
// another is told as a multiple of its own.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

func main() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var m struct{ ID json.RawMessage }
		if json.Unmarshal(lines.Bytes(), &m) == nil && m.ID != nil {
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"trivial","version":"1"}}}`+"\n", m.ID)
		}
	}
}
