package terminal

import (
	"bytes"
	"io"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
)

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
