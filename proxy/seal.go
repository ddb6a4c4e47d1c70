package proxy

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// digest identifies what is requested, so that a state is good for that alone:
// the method and what it is of. A retry repeats these to the letter.
func (s *sealer) digest(c *call) uint64 {
	var h maphash.Hash
	h.SetSeed(s.seed)
	_, _ = h.WriteString(c.MethodName)
	for _, span := range []wire.Span{c.Name, c.URI, c.Args} {
		_, _ = h.Write(c.Bytes(span))
		_ = h.WriteByte(0)
	}
	return h.Sum64()
}

// sealer closes and opens the states given to clients. Its key is the
// process's own, as what the states stand for is.
type sealer struct {
	aead cipher.AEAD
	seed maphash.Seed
}

// statePrefix tells our states from the servers'.
const statePrefix = "wb1."

var errForeignState = errors.New("not a state of ours")

func newSealer() *sealer {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails: it ends the program instead
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err)
	}
	return &sealer{aead, maphash.MakeSeed()}
}

// close makes a state: which parked request, what was requested, how long.
func (s *sealer) close(number uint64, digest uint64, expiry time.Time) string {
	plain := binary.BigEndian.AppendUint64(nil, number)
	plain = binary.BigEndian.AppendUint64(plain, uint64(expiry.Unix()))
	plain = binary.BigEndian.AppendUint64(plain, digest)
	return statePrefix + base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, plain, nil))
}

// open reads a state that close made and that has not expired.
func (s *sealer) open(state string) (number, digest uint64, err error) {
	text, ours := strings.CutPrefix(state, statePrefix)
	if !ours {
		return 0, 0, errForeignState
	}
	box, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return 0, 0, err
	}
	plain, err := s.aead.Open(nil, nil, box, nil)
	if err != nil {
		return 0, 0, err
	}
	if time.Now().Unix() > int64(binary.BigEndian.Uint64(plain[8:])) {
		return 0, 0, errors.New("the state has expired")
	}
	return binary.BigEndian.Uint64(plain), binary.BigEndian.Uint64(plain[16:]), nil
}
