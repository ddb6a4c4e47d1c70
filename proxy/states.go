package proxy

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// errUsed refuses a state that a client brings along a second time.
var errUsed = &wire.Error{Code: wire.CodeInvalidParams, Message: "this requestState was used already"}

// states are what the states stand for that modern clients were given and bring along with a request made again.
type states struct {
	*sealer

	mu     sync.Mutex
	ended  bool
	last   uint64
	of     map[uint64]any
	grants map[uint64]int // by the digests of requests, how often they go on without being asked about anew
}

func newStates(seal *sealer) *states {
	return &states{sealer: seal, of: make(map[uint64]any), grants: make(map[uint64]int)}
}

// add gives a number to what a state is to stand for; ended says that no client comes back with it.
func (st *states) add(what any) (number uint64, ended bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.last++
	if !st.ended {
		st.of[st.last] = what
	}
	return st.last, st.ended
}

// find gives what a number stands for; nil for nothing.
func (st *states) find(number uint64) any {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.of[number]
}

// drop forgets a number, and gives what it stood for; nil for nothing.
func (st *states) drop(number uint64) any {
	st.mu.Lock()
	defer st.mu.Unlock()
	defer delete(st.of, number)
	return st.of[number]
}

// all gives what the states stand for, by their numbers.
func (st *states) all() map[uint64]any {
	st.mu.Lock()
	defer st.mu.Unlock()
	return maps.Clone(st.of)
}

// grant has the next request of a digest that comes with a server's state go on without being asked about.
func (st *states) grant(digest uint64) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if len(st.grants) < maxHeld {
		st.grants[digest]++
	}
}

// granted reports whether that is so, and takes it.
func (st *states) granted(digest uint64) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.grants[digest] == 0 {
		return false
	}
	if st.grants[digest]--; st.grants[digest] == 0 {
		delete(st.grants, digest)
	}
	return true
}

// inputRequired is the result that asks a modern client to have its user fill a form, and to make the request again
// with the answer and with a state that says: which number, what was requested, until when.
func (st *states) inputRequired(key string, form []byte, number, digest uint64, until time.Time) []byte {
	one := wire.NewObject(nil).Text("method", "elicitation/create").Raw("params", form).End()
	return asking(wire.NewObject(nil).Raw(key, one).End(), st.close(number, digest, until))
}

// asking is the result that asks a modern client questions.
func asking(questions []byte, state string) []byte {
	return wire.NewObject(nil).Text("resultType", "input_required").Raw("inputRequests", questions).Text("requestState", state).End()
}

// digest identifies what is requested, so that a state is good for that alone: the method and what it is of. A retry
// repeats these to the letter.
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

// sealer closes and opens the states given to clients. Its key is the process's own, as what the states stand for is.
type sealer struct {
	aead  cipher.AEAD
	seed  maphash.Seed
	began time.Time // from which states count their time, so that nobody can set their clock
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
	return &sealer{aead, maphash.MakeSeed(), time.Now()}
}

// close makes a state: which parked request, what was requested, how long.
func (s *sealer) close(number uint64, digest uint64, expiry time.Time) string {
	plain := binary.BigEndian.AppendUint64(nil, number)
	plain = binary.BigEndian.AppendUint64(plain, uint64(expiry.Sub(s.began)))
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
	if time.Since(s.began) > time.Duration(binary.BigEndian.Uint64(plain[8:])) {
		return 0, 0, errors.New("the state has expired")
	}
	return binary.BigEndian.Uint64(plain), binary.BigEndian.Uint64(plain[16:]), nil
}
