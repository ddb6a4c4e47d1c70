package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// scriptClient is a client for scripts: "client FILE COMMAND…" runs a server and says the lines of the file to it, each
// when what was asked before is answered, or, after a line "# TEXT", when a line came that has the text. Then it ends
// the input. What the server says is on its standard output.
func scriptClient() {
	text, err := os.ReadFile(os.Args[1])
	if err == nil {
		err = converse(text, exec.Command(os.Args[2], os.Args[3:]...))
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		os.Exit(exit.ExitCode())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "client:", err)
		os.Exit(1)
	}
}

func converse(text []byte, cmd *exec.Cmd) error {
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	said := bufio.NewReader(out)
	for line := range bytes.Lines(text) {
		var request struct{ ID json.RawMessage }
		_ = json.Unmarshal(line, &request)
		var over func(line []byte) bool
		if awaited, ok := bytes.CutPrefix(line, []byte("# ")); ok {
			over = func(line []byte) bool { return bytes.Contains(line, bytes.TrimSpace(awaited)) }
		} else if _, err := in.Write(line); err != nil {
			break // it has ended
		} else if request.ID != nil {
			over = func(line []byte) bool {
				var reply struct {
					ID     json.RawMessage
					Method string
				}
				return json.Unmarshal(line, &reply) == nil && reply.Method == "" && bytes.Equal(reply.ID, request.ID)
			}
		}
		if over != nil && !hear(said, over) {
			break
		}
	}
	in.Close()
	_, err = io.Copy(os.Stdout, said)
	return errors.Join(err, cmd.Wait())
}

// hear passes lines on, to the one that is awaited; it reports whether that came.
func hear(said *bufio.Reader, awaited func(line []byte) bool) bool {
	for {
		line, err := said.ReadBytes('\n')
		os.Stdout.Write(line)
		if err != nil || awaited(line) {
			return err == nil
		}
	}
}
