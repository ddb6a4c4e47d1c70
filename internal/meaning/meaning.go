package meaning

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"
)

// Model makes vectors of texts, all of one length, in their order.
type Model interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

const (
	voted     = 20               // how many texts get a vote
	atOnce    = 32               // texts in one request
	patience  = 2 * time.Second  // for what a search needs of the model
	rest      = 30 * time.Second // for one that failed
	maxKept   = 20_000           // vectors
	maxLength = 4096             // numbers of a vector
)

type digest [sha256.Size]byte

// Meanings are the vectors of texts. It is safe for concurrent use.
type Meanings struct {
	model Model
	file  string // where vectors are kept for later runs; "" for nowhere
	wait  time.Duration
	ctx   context.Context
	end   context.CancelFunc
	work  sync.WaitGroup

	mu      sync.Mutex
	read    bool // the file was
	vectors map[digest][]int8
	wanted  map[digest]string // texts whose vectors are missing
	busy    bool              // they are being asked for
	changed chan struct{}     // closed when there are more vectors, or none to be had
	failed  error             // why the model gave nothing
	until   time.Time         // when it is asked again
}

// New makes the meanings of a model that are kept in a file, which need not be there; "" keeps them in memory alone.
func New(model Model, file string) *Meanings {
	m := &Meanings{model: model, file: file, wait: patience, vectors: make(map[digest][]int8), wanted: make(map[digest]string), changed: make(chan struct{})}
	m.ctx, m.end = context.WithCancel(context.Background()) // vectors are asked for beside the searches that want them
	return m
}

// Close ends what is asked of the model.
func (m *Meanings) Close() {
	m.mu.Lock()
	m.end() // nothing is begun after it
	m.mu.Unlock()
	m.work.Wait()
}

// Votes gives each text a vote between 0 and 1 by how near it is to the query. The error says why there are none.
func (m *Meanings) Votes(ctx context.Context, texts []string, query string) ([]float32, error) {
	bounded, cancel := context.WithTimeoutCause(ctx, m.wait, errors.New("the model has not answered in time"))
	defer cancel()
	if err := m.want(texts); err != nil {
		return nil, err
	}
	vectors, err := m.await(bounded, texts)
	if err != nil {
		return nil, err
	}
	asked, err := m.model.Embed(bounded, []string{query})
	if err == nil {
		err = check(asked, 1)
	}
	switch {
	case err == nil:
		m.works()
		return rank(small(asked[0]), vectors), nil
	case ctx.Err() == nil: // or nobody waits for it any more, which says nothing of the model
		m.fail(err)
	}
	return nil, err
}

// want asks for the vectors of texts that there are none of.
func (m *Meanings) want(texts []string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Now().Before(m.until) {
		return m.failed
	}
	if !m.read {
		m.read = true
		m.load()
	}
	for _, t := range texts {
		if key := digest(sha256.Sum256([]byte(t))); m.vectors[key] == nil {
			m.wanted[key] = t
		}
	}
	if len(m.wanted) > 0 && !m.busy && m.ctx.Err() == nil {
		m.busy = true
		m.work.Go(m.fill)
	}
	return nil
}

// fail notes that the model gave nothing.
func (m *Meanings) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failed, m.until = err, time.Now().Add(rest)
}

// works notes that the model gave something.
func (m *Meanings) works() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failed, m.until = nil, time.Time{}
}

// fill asks for the vectors that are wanted, until there are no more or the model fails.
func (m *Meanings) fill() {
	for {
		keys, texts := m.next()
		if texts == nil {
			m.store()
			return
		}
		vectors, err := m.model.Embed(m.ctx, texts)
		if err == nil {
			err = check(vectors, len(texts))
		}
		if err != nil && m.ctx.Err() == nil {
			m.fail(err)
		}
		m.mu.Lock()
		for i, key := range keys {
			delete(m.wanted, key)
			if err == nil {
				m.vectors[key] = small(vectors[i])
			}
		}
		if err != nil {
			clear(m.wanted) // a later search wants them again
		}
		m.tell()
		m.mu.Unlock()
	}
}

// next takes some of the texts that are wanted; none end the asking.
func (m *Meanings) next() (keys []digest, texts []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.vectors) > maxKept {
		clear(m.vectors) // what is searched is soon there again
	}
	for key, text := range m.wanted {
		if len(texts) == atOnce {
			break
		}
		keys, texts = append(keys, key), append(texts, text)
	}
	if texts == nil {
		m.busy = false
		m.tell() // who looked after the last vectors came and before this waits for more
	}
	return keys, texts
}

// tell wakes who waits for vectors. The caller holds the lock.
func (m *Meanings) tell() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// await gives the vectors of texts once they are there.
func (m *Meanings) await(ctx context.Context, texts []string) ([][]int8, error) {
	vectors := make([][]int8, len(texts))
	for before := -1; ; {
		known := 0
		m.mu.Lock()
		for i, t := range texts {
			if vectors[i] = m.vectors[sha256.Sum256([]byte(t))]; vectors[i] != nil {
				known++
			}
		}
		busy, changed, failed := m.busy, m.changed, m.failed
		m.mu.Unlock()
		if before < 0 {
			before = known
		}
		switch {
		case known == len(texts):
			return vectors, nil
		case !busy:
			return nil, cmp.Or(failed, errors.New("the model was not asked to the end"))
		}
		select {
		case <-changed:
		case <-ctx.Done():
			err := fmt.Errorf("the model has read %d of %d texts so far", known, len(texts))
			if known == before && errors.Is(ctx.Err(), context.DeadlineExceeded) {
				m.fail(err) // it may never answer
			}
			return nil, err
		}
	}
}

// check says what is wrong with vectors of so many texts.
func check(vectors [][]float32, count int) error {
	if len(vectors) != count {
		return fmt.Errorf("the model gave %d vectors for %d texts", len(vectors), count)
	}
	for _, v := range vectors {
		if len(v) == 0 || len(v) > maxLength || len(v) != len(vectors[0]) {
			return fmt.Errorf("the model gave a vector of %d numbers", len(v))
		}
	}
	return nil
}

// small gives a vector as bytes: directions stay, lengths do not.
func small(v []float32) []int8 {
	most := 0.0
	for _, x := range v {
		most = max(most, math.Abs(float64(x)))
	}
	out := make([]int8, len(v))
	for i, x := range v {
		if most > 0 { // not so where a number is none
			out[i] = int8(math.Round(float64(x) / most * math.MaxInt8))
		}
	}
	return out
}

// rank gives the nearest texts their votes: the first one 1, and each one after it less.
func rank(query []int8, vectors [][]int8) []float32 {
	type near struct {
		text int
		by   float64
	}
	all := make([]near, len(vectors))
	for i, v := range vectors {
		all[i] = near{i, cosine(query, v)}
	}
	slices.SortStableFunc(all, func(a, b near) int { return cmp.Compare(b.by, a.by) })
	votes := make([]float32, len(vectors))
	for place, n := range all[:min(voted, len(all))] {
		if n.by > 0 {
			votes[n.text] = 1 - float32(place)/voted
		}
	}
	return votes
}

// cosine is 0 for vectors that cannot be compared.
func cosine(a, b []int8) float64 {
	if len(a) != len(b) {
		return 0
	}
	var dot, aa, bb int64
	for i := range a {
		x, y := int64(a[i]), int64(b[i])
		dot, aa, bb = dot+x*y, aa+x*x, bb+y*y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return float64(dot) / math.Sqrt(float64(aa)*float64(bb))
}
