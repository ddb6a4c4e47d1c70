package secrets

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"filippo.io/age"

	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/slots"
)

// Paths say where the file of secrets is, and the key to it.
type Paths struct {
	Secrets  string // the file, encrypted by age; "" if there is no place for one, and nothing is in it
	Key      string // its identity, as age-keygen writes one, in clear or encrypted with a passphrase
	Unlocked string // the identity in clear, where it is not kept longer than a login; "" if there is no such place
	Turns    string // a folder for locks
}

// File is the file of secrets. Its methods may be called from several goroutines and processes.
type File struct {
	paths Paths
	turns *slots.Slots
	work  int // of a passphrase, as a power of two; 0 means the default of age
}

// NewFile returns the file of secrets; it opens nothing.
func NewFile(paths Paths) *File { return &File{paths: paths, turns: slots.New(paths.Turns, 1)} }

// maxFile is the most bytes of the file and of its key.
const maxFile = 16 << 20

// ErrLocked says that the key is encrypted, and the passphrase was not given since the last login.
var ErrLocked = errors.New("the key of the secrets is locked; unlock it with: workbench secret unlock")

// ErrNoKey says that there is no key.
var ErrNoKey = errors.New("there is no key for the secrets")

// ErrNotProtected says that the key needs no passphrase.
var ErrNotProtected = errors.New("the key of the secrets has no passphrase: there is nothing to unlock")

// get returns a secret of the file.
func (f *File) get(name string) (string, error) {
	all, err := f.read()
	if err != nil {
		return "", err
	}
	value, ok := all[name]
	if !ok {
		return "", ErrNotSet
	}
	return value, nil
}

// Names returns the names of the secrets in the file, sorted.
func (f *File) Names() ([]string, error) {
	all, err := f.read()
	return slices.Sorted(maps.Keys(all)), err
}

// Set keeps a secret, and makes the file and its key if there is none.
func (f *File) Set(ctx context.Context, name, value string) error {
	return f.change(ctx, func(all map[string]string) error {
		all[name] = value
		return nil
	})
}

// Remove forgets a secret; ErrNotSet if there is none.
func (f *File) Remove(ctx context.Context, name string) error {
	return f.change(ctx, func(all map[string]string) error {
		if _, ok := all[name]; !ok {
			return ErrNotSet
		}
		delete(all, name)
		return nil
	})
}

// read returns what is in the file; nothing if there is none.
func (f *File) read() (map[string]string, error) {
	all := make(map[string]string)
	if f.paths.Secrets == "" {
		return all, nil
	}
	data, _, err := openfile.Read(f.paths.Secrets, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	key, err := f.key()
	if err != nil {
		return nil, err
	}
	clear, err := decrypt(data, key)
	if err == nil {
		err = json.Unmarshal(clear, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be decrypted with the key %s", f.paths.Secrets, f.paths.Key)
	}
	return all, nil
}

// change lets do change what is in the file. While it runs no other process changes it.
func (f *File) change(ctx context.Context, do func(all map[string]string) error) error {
	done, err := f.turn(ctx)
	if err != nil {
		return err
	}
	defer done()
	all, err := f.read()
	if err != nil {
		return err
	}
	if err := do(all); err != nil {
		return err
	}
	key, err := f.anyKey()
	if err != nil {
		return err
	}
	clear, err := json.Marshal(all)
	if err != nil {
		return err
	}
	data, err := encrypt(clear, key.Recipient())
	if err != nil {
		return err
	}
	return openfile.Replace(f.paths.Secrets, data)
}

// turn waits until no other process changes the file or its key.
func (f *File) turn(ctx context.Context) (done func(), err error) {
	if err := openfile.MakeFolder(filepath.Dir(f.paths.Secrets), 0o700); err != nil {
		return nil, err
	}
	return f.turns.Take(ctx, f.paths.Secrets)
}

// anyKey returns the key of the file, a new one if there is none.
func (f *File) anyKey() (*age.X25519Identity, error) {
	key, err := f.key()
	if !errors.Is(err, ErrNoKey) {
		return key, err
	}
	key, err = age.GenerateX25519Identity()
	if err != nil {
		return nil, err
	}
	return key, openfile.PutNew(f.paths.Key, []byte(keyText(key)))
}

// keyText is a key in clear, as age-keygen writes it.
func keyText(key *age.X25519Identity) string {
	return fmt.Sprintf("# public key: %s\n%s\n", key.Recipient(), key)
}

// key returns the key of the file: in clear, or unlocked since the last login.
func (f *File) key() (*age.X25519Identity, error) {
	data, err := f.keyFile()
	if err != nil {
		return nil, err
	}
	if isEncrypted(data) {
		if f.paths.Unlocked == "" {
			return nil, ErrLocked
		}
		data, err = readPrivate(f.paths.Unlocked)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, ErrLocked
		}
		if err != nil {
			return nil, err
		}
	}
	return parseKey(data, f.paths.Key)
}

func (f *File) keyFile() ([]byte, error) {
	data, err := readPrivate(f.paths.Key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoKey
	}
	return data, err
}

// readPrivate reads a file that nobody else can read.
func readPrivate(path string) ([]byte, error) {
	data, info, err := openfile.Read(path, maxFile)
	if err == nil && !openfile.Private(info) {
		err = fmt.Errorf("%s can be read or written by others (chmod 600 %[1]s)", path)
	}
	return data, err
}

func parseKey(data []byte, path string) (*age.X25519Identity, error) {
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		if key, err := age.ParseX25519Identity(line); err == nil {
			return key, nil
		}
		break
	}
	return nil, fmt.Errorf("%s is no key of age, which begins with AGE-SECRET-KEY-1", path)
}

// Protect encrypts the key with a passphrase, or, with an empty one, no longer, and makes the key if there is none. The
// key is unlocked from then on.
func (f *File) Protect(ctx context.Context, passphrase string) error {
	done, err := f.turn(ctx)
	if err != nil {
		return err
	}
	defer done()
	key, err := f.anyKey()
	if err != nil {
		return err
	}
	data := []byte(keyText(key))
	if passphrase != "" {
		recipient, err := age.NewScryptRecipient(passphrase)
		if err != nil {
			return err
		}
		if f.work != 0 {
			recipient.SetWorkFactor(f.work)
		}
		if f.paths.Unlocked == "" {
			return errNoUnlocked
		}
		if err := f.unlocked(data); err != nil {
			return err
		}
		if data, err = encrypt(data, recipient); err != nil {
			return err
		}
	}
	return openfile.Replace(f.paths.Key, data)
}

// errNoUnlocked says why a key cannot be unlocked.
var errNoUnlocked = errors.New("XDG_RUNTIME_DIR is not set, so there is no place for an unlocked key that lasts until you log out")

// Unlock decrypts the key until the user logs out.
func (f *File) Unlock(passphrase string) error {
	data, err := f.keyFile()
	if err == nil && f.paths.Unlocked == "" {
		err = errNoUnlocked
	}
	if err != nil {
		return err
	}
	identity, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return err
	}
	clear, err := decrypt(data, identity)
	if err != nil {
		return errors.New("the passphrase is not that of the key")
	}
	if _, err := parseKey(clear, f.paths.Key); err != nil {
		return err
	}
	return f.unlocked(clear)
}

func (f *File) unlocked(key []byte) error {
	if err := openfile.MakeFolder(filepath.Dir(f.paths.Unlocked), 0o700); err != nil {
		return err
	}
	return openfile.Replace(f.paths.Unlocked, key)
}

// Locked says why there is nothing to unlock; nil if the key has a passphrase.
func (f *File) Locked() error {
	data, err := f.keyFile()
	if err == nil && !isEncrypted(data) {
		err = ErrNotProtected
	}
	return err
}

func isEncrypted(data []byte) bool { return bytes.HasPrefix(data, []byte("age-encryption.org/")) }

func encrypt(clear []byte, to age.Recipient) ([]byte, error) {
	var out bytes.Buffer
	w, err := age.Encrypt(&out, to)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(clear); err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}

func decrypt(data []byte, with age.Identity) ([]byte, error) {
	r, err := age.Decrypt(bytes.NewReader(data), with)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, maxFile))
}
