// Package secrets finds the secrets that a configuration names by ${secret:NAME}, and keeps those of the user.
//
// A secret is what a program of the configuration prints, or it is in one of the two places where the user keeps
// secrets: the keychain of the system, or a file that is encrypted by age. The file is looked into first, because a
// keychain may ask the person who sits there. Nothing is remembered: a secret is looked up each time that it is wanted.
package secrets

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/singleflight"
)

// MaxSize is the most bytes that a secret may have.
const MaxSize = 64 << 10

// lookupTime bounds one look-up, of which a person may be asked to unlock the keychain.
const lookupTime = time.Minute

// ErrNotSet says that there is no secret of a name.
var ErrNotSet = errors.New("is not set")

// Finder finds secrets. Its methods may be called from several goroutines.
type Finder struct {
	file     *File
	keychain Keychain
	run      func(ctx context.Context, argv []string) ([]byte, error)

	flights singleflight.Group // several servers that start at once and want one secret look it up once
}

// New returns what looks into a file and a keychain, and has the programs that print secrets run by run. It opens
// nothing.
func New(file *File, keychain Keychain, run func(ctx context.Context, argv []string) ([]byte, error)) *Finder {
	return &Finder{file: file, keychain: keychain, run: run}
}

// Find looks a secret up; command prints it, or is empty if it is one that the user keeps. The error names the secret
// and says what to do, and never what the secret is.
func (f *Finder) Find(ctx context.Context, name string, command []string) (string, error) {
	key := strings.Join(append([]string{name}, command...), "\x00")
	found := f.flights.DoChan(key, func() (any, error) {
		// The first caller may give up while other callers go on waiting.
		ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), lookupTime, fmt.Errorf("there was no answer within %s", lookupTime))
		defer cancel()
		if len(command) > 0 {
			return f.print(ctx, command)
		}
		return f.kept(ctx, name)
	})
	select {
	case r := <-found:
		if r.Err != nil {
			return "", fmt.Errorf("secret %s: %w", name, r.Err)
		}
		return r.Val.(string), nil
	case <-ctx.Done():
		return "", fmt.Errorf("secret %s: its place did not answer in time: %w", name, context.Cause(ctx))
	}
}

// print runs the program that prints a secret.
func (f *Finder) print(ctx context.Context, command []string) (string, error) {
	out, err := f.run(ctx, command)
	if err != nil {
		return "", fmt.Errorf("the command %q of the configuration: %w", command[0], err)
	}
	text := strings.TrimSuffix(strings.TrimSuffix(string(out), "\n"), "\r")
	if err := Check(text); err != nil {
		return "", fmt.Errorf("the command %q of the configuration printed something that cannot be a secret: %w", command[0], err)
	}
	return text, nil
}

// kept looks for a secret in the places where the user keeps them.
func (f *Finder) kept(ctx context.Context, name string) (string, error) {
	value, locked := f.file.get(name)
	if locked == nil {
		return value, nil
	}
	value, err := f.keychain.get(ctx, name)
	switch {
	case err == nil:
		return value, nil
	case errors.Is(err, ErrNotSet) || errors.Is(err, ErrNoKeychain):
		err = nil
	default:
		err = fmt.Errorf("the keychain of the system: %w", err)
	}
	if errors.Is(locked, ErrNotSet) {
		locked = nil
	}
	if err = errors.Join(err, locked); err != nil {
		return "", err
	}
	return "", fmt.Errorf("%w; give it a value with: workbench secret set %s", ErrNotSet, name)
}

// Check says why a text cannot be a secret.
func Check(value string) error {
	switch {
	case value == "":
		return errors.New("it is empty")
	case len(value) > MaxSize:
		return fmt.Errorf("it has more than %d bytes", MaxSize)
	case strings.ContainsRune(value, 0) || !utf8.ValidString(value):
		return errors.New("it is not UTF-8 text without zero bytes")
	}
	return nil
}
