package store

import (
	"context"
	"fmt"
	"iter"
)

// Selection says whose conversations are meant. The zero value means all of everybody.
type Selection struct {
	Principal string   // "": of everybody
	IDs       []string // nil: all
}

// Key is what a conversation is found by.
type Key struct{ Principal, ID string }

// Select returns the keys of the conversations meant, in their order. It is for those who administer the store: it
// looks at the conversations of everybody. An id that is not there is an error that wraps ErrNotFound. What is changed
// meanwhile may be among them or not.
func (s *Store) Select(ctx context.Context, sel Selection) iter.Seq2[Key, error] {
	return func(yield func(Key, error) bool) {
		if sel.IDs == nil {
			s.selectAll(ctx, sel.Principal, yield)
			return
		}
		for _, id := range sel.IDs {
			keys, err := s.page(ctx, `SELECT principal, id FROM conversations WHERE id = $1 AND ($2 = '' OR principal = $2) ORDER BY principal`, id, sel.Principal)
			if err == nil && len(keys) == 0 {
				err = fmt.Errorf("conversation %q: %w", id, ErrNotFound)
			}
			if err != nil {
				yield(Key{}, err)
				return
			}
			for _, key := range keys {
				if !yield(key, nil) {
					return
				}
			}
		}
	}
}

// selectAll reads page by page, so that no transaction stays open while the keys are used.
func (b *base) selectAll(ctx context.Context, principal string, yield func(Key, error) bool) {
	const size = 200
	var after Key
	for {
		keys, err := b.page(ctx, `SELECT principal, id FROM conversations WHERE (principal, id) > ($1, $2) AND ($3 = '' OR principal = $3)
			ORDER BY principal, id LIMIT $4`, after.Principal, after.ID, principal, size)
		if err != nil {
			yield(Key{}, err)
			return
		}
		for _, key := range keys {
			if !yield(key, nil) {
				return
			}
		}
		if len(keys) < size {
			return
		}
		after = keys[size-1]
	}
}

func (b *base) page(ctx context.Context, query string, args ...any) ([]Key, error) {
	return list(ctx, b.db, func(row scanner) (key Key, err error) {
		err = row.Scan(&key.Principal, &key.ID)
		return key, err
	}, query, args...)
}

// Owned is a conversation and whose it is.
type Owned struct {
	Principal string
	Conversation
}

// Latest returns the conversations that were updated last, the latest first, at most limit, of one principal or, with
// "", of everybody. Like Select it is for those who administer the store.
func (s *Store) Latest(ctx context.Context, principal string, limit int) ([]Owned, error) {
	return s.conversations(ctx, `SELECT `+conversationColumns+` FROM conversations WHERE $1 = '' OR principal = $1
		ORDER BY updated DESC, id DESC LIMIT $2`, principal, limit)
}

// conversations returns those that a query finds, the damaged ones among them.
func (b *base) conversations(ctx context.Context, query string, args ...any) ([]Owned, error) {
	var found []Owned
	err := b.db.read(ctx, func(ctx context.Context, q querier) error {
		found = nil
		err := each(ctx, q, func(row scanner) error {
			owner, c, err := scanConversation(row)
			if err != nil && !c.Damaged {
				return err
			}
			found = append(found, Owned{owner, c})
			return nil
		}, query, args...)
		if err != nil {
			return err
		}
		var all []*Conversation
		for i := range found {
			all = append(all, &found[i].Conversation)
		}
		return b.goes(ctx, q, all...)
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}
