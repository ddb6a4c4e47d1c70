package account

import "sync"

// Users are accounts of users, by their names. Each is there for as long as somebody has entered it. The methods may be
// called by several goroutines.
type Users struct {
	limit int
	mu    sync.Mutex
	all   map[string]*entered
}

type entered struct {
	*Account
	by int
}

// NewUsers makes accounts that allow each user so many bytes.
func NewUsers(limit int) *Users { return &Users{limit: limit, all: make(map[string]*entered)} }

// Enter gives the account of a user, which stays until leave is called. What was charged is credited before that.
func (us *Users) Enter(user string) (of *Account, leave func()) {
	us.mu.Lock()
	defer us.mu.Unlock()
	e := us.all[user]
	if e == nil {
		e = &entered{Account: New(us.limit, nil)}
		us.all[user] = e
	}
	e.by++
	return e.Account, func() {
		us.mu.Lock()
		defer us.mu.Unlock()
		if e.by--; e.by == 0 {
			delete(us.all, user)
		}
	}
}
