// Command files is an MCP server for the demo: it lists and reads the files of one folder, which is its argument.
package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcp-workbench/workbench/internal/openfile"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "files:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 2 {
		return fmt.Errorf("got %d arguments, want a folder", len(os.Args)-1)
	}
	folder, err := openfile.OpenFolder(os.Args[1])
	if err != nil {
		return err
	}
	defer folder.Close()
	s := server.NewMCPServer("files", "1.0.0")
	s.AddTool(mcp.NewTool("list_directory", mcp.WithDescription("List the files and folders in a folder."),
		mcp.WithString("path", mcp.Description("The folder, below the one that is served; that one if it is left out."))),
		func(_ context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			entries, err := fs.ReadDir(folder.FS(), req.GetString("path", "."))
			if err != nil {
				return mcp.NewToolResultError(err.Error()), nil
			}
			var list strings.Builder
			for _, e := range entries {
				kind := "[FILE]"
				if e.IsDir() {
					kind = "[DIR]"
				}
				fmt.Fprintf(&list, "%s %s\n", kind, e.Name())
			}
			return mcp.NewToolResultText(list.String()), nil
		})
	s.AddTool(mcp.NewTool("read_text_file", mcp.WithDescription("Read a text file."),
		mcp.WithString("path", mcp.Required(), mcp.Description("The file, below the folder that is served."))),
		func(_ context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			text, err := fs.ReadFile(folder.FS(), req.GetString("path", ""))
			if err != nil {
				return mcp.NewToolResultError(err.Error()), nil
			}
			return mcp.NewToolResultText(string(text)), nil
		})
	return server.ServeStdio(s)
}
