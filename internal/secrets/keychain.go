package secrets

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/zalando/go-keyring"

	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/slots"
)

// service is the name under which the keychain has the secrets of workbench; the user name is that of the secret.
const service = "workbench"

// ErrNoKeychain says that there is no keychain to be reached.
var ErrNoKeychain = errors.New("no keychain of the system can be reached")

// Keychain is the keychain of the system: the Secret Service on Linux, the Keychain on macOS, the Credential Manager on
// Windows.
type Keychain struct {
	// Index is a file with the names of the secrets that Set has kept: a keychain cannot be asked for them. "" is none.
	Index string
}

// Reachable reports whether there may be a keychain. Where there is no bus of the session, the library would start one,
// of which nobody else knows.
func (Keychain) Reachable() bool {
	switch runtime.GOOS {
	case "darwin", "windows":
		return true
	case "linux":
		if address, ok := os.LookupEnv("DBUS_SESSION_BUS_ADDRESS"); ok && address != "" && address != "autolaunch:" {
			return true
		}
		_, err := os.Stat(fmt.Sprintf("/run/user/%d/bus", os.Getuid()))
		return err == nil
	}
	return false
}

func (k Keychain) get(ctx context.Context, name string) (string, error) {
	return k.ask(ctx, func() (string, error) { return keyring.Get(service, name) })
}

// Set keeps a secret.
func (k Keychain) Set(ctx context.Context, name, value string) error {
	_, err := k.ask(ctx, func() (string, error) { return "", keyring.Set(service, name, value) })
	if errors.Is(err, keyring.ErrSetDataTooBig) {
		return errors.New("the keychain of the system takes no secret as long as this one")
	}
	if err != nil {
		return err
	}
	return k.note(ctx, name, true)
}

// Remove forgets a secret; ErrNotSet if there is none.
func (k Keychain) Remove(ctx context.Context, name string) error {
	_, err := k.ask(ctx, func() (string, error) { return "", keyring.Delete(service, name) })
	if err != nil && !errors.Is(err, ErrNotSet) {
		return err
	}
	return errors.Join(err, k.note(ctx, name, false))
}

// Names returns the names of the secrets that Set has kept, sorted.
func (k Keychain) Names() ([]string, error) {
	if k.Index == "" {
		return nil, nil
	}
	data, _, err := openfile.Read(k.Index, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return strings.Fields(string(data)), err
}

// note changes the index where it does not say what it should. While it runs no other process changes it.
func (k Keychain) note(ctx context.Context, name string, kept bool) error {
	if k.Index == "" {
		return nil
	}
	done, err := slots.New(filepath.Dir(k.Index), 1).Take(ctx, k.Index)
	if err != nil {
		return err
	}
	defer done()
	names, err := k.Names()
	if err != nil || slices.Contains(names, name) == kept {
		return err
	}
	if kept {
		names = append(names, name)
		slices.Sort(names)
	} else {
		names = slices.DeleteFunc(names, func(n string) bool { return n == name })
	}
	return openfile.Replace(k.Index, []byte(strings.Join(names, "\n")+"\n"))
}

// ask asks the keychain something. It may ask a person in turn, and is not waited for once ctx has ended.
func (k Keychain) ask(ctx context.Context, do func() (string, error)) (string, error) {
	if !k.Reachable() {
		return "", ErrNoKeychain
	}
	type answer struct {
		value string
		err   error
	}
	answered := make(chan answer, 1)
	go func() {
		value, err := do()
		answered <- answer{value, err}
	}()
	select {
	case a := <-answered:
		if errors.Is(a.err, keyring.ErrNotFound) {
			return "", ErrNotSet
		}
		return a.value, a.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
