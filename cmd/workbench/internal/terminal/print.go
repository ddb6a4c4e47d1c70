package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// PrintLine prints a value of ours as one line for programs.
func PrintLine(out io.Writer, v any) error {
	line, err := json.Marshal(v)
	if err == nil {
		_, err = fmt.Fprintf(out, "%s\n", foreign.JSON(line))
	}
	return err
}

// PrintJSON prints a value of ours for programs and for eyes.
func PrintJSON(out io.Writer, v any) error {
	var text bytes.Buffer
	enc := wire.NewEncoder(&text)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := out.Write(foreign.JSON(text.Bytes()))
	return err
}
