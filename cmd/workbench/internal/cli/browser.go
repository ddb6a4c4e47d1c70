package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"runtime"
	"time"
)

// Browse opens an address in the browser of the user, and waits for it where it is a program of the terminal, until ctx
// ends. The address comes from a stranger: it is an argument of its own, after no shell has seen it, and begins with
// http.
func Browse(ctx context.Context, e *Environment, address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return errors.New("this is not an address for a browser")
	}
	args := opener(runtime.GOOS)
	cmd := exec.CommandContext(ctx, args[0], append(args[1:], u.String())...)
	cmd.Env = e.Environ
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("the browser cannot be opened: %w", err)
	}
	return nil
}

// opener is the program that opens an address on a system.
func opener(goos string) []string {
	switch goos {
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	case "darwin":
		return []string{"open"}
	default:
		return []string{"xdg-open"}
	}
}
