package example

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Bounds of what a shop remembers.
const (
	maxOrders = 500
	maxNotes  = 20
)

// A Shop has books and orders, in memory. Any number of goroutines may use it.
type Shop struct {
	tools []tool

	mu     sync.Mutex // guards orders and what is in them
	orders []*order   // the oldest first
	next   int
}

type book struct {
	Title  string `json:"title"`
	Author string `json:"author"`
	Cents  int    `json:"price_cents"`
}

type order struct {
	ID       string   `json:"order_id"`
	Customer string   `json:"customer"`
	Status   string   `json:"status"`
	Lines    []line   `json:"lines"`
	Notes    []string `json:"notes"`
}

type line struct {
	Book   string `json:"book"`
	Copies int    `json:"copies"`
}

// New returns a shop with a few orders, the same every time.
func New() *Shop {
	s := &Shop{next: 44831, orders: []*order{
		{ID: "44817", Customer: "Tom Hale", Status: "shipped", Lines: []line{{"Moby-Dick", 1}}},
		{ID: "44821", Customer: "Ada Reed", Status: "open", Lines: []line{{"Emma", 2}, {"The Waves", 1}}, Notes: []string{"Wants them before Friday"}},
		{ID: "44830", Customer: "Ines Brandt", Status: "open", Lines: []line{{"Dracula", 1}}},
	}}
	s.tools = s.table()
	return s
}

func shelf() []book {
	return []book{
		{"Emma", "Jane Austen", 899}, {"Persuasion", "Jane Austen", 799}, {"Moby-Dick", "Herman Melville", 1250},
		{"The Waves", "Virginia Woolf", 1050}, {"Dracula", "Bram Stoker", 950}, {"Leaves of Grass", "Walt Whitman", 1150},
		{"Middlemarch", "George Eliot", 1400}, {"Frankenstein", "Mary Shelley", 850},
	}
}

// search finds books that have every word in title or author.
func (s *Shop) search(words string) []book {
	var found []book
	for _, b := range shelf() {
		text := strings.ToLower(b.Title + " " + b.Author)
		if !slices.ContainsFunc(strings.Fields(strings.ToLower(words)), func(w string) bool { return !strings.Contains(text, w) }) {
			found = append(found, b)
		}
	}
	return found
}

// list gives the orders of a status, of any where it is "", the newest first.
func (s *Shop) list(status string) []order {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []order{}
	for _, o := range slices.Backward(s.orders) {
		if status == "" || o.Status == status {
			list = append(list, o.copy())
		}
	}
	return list
}

func (o *order) copy() order {
	c := *o
	c.Lines, c.Notes = slices.Clone(o.Lines), append([]string{}, o.Notes...)
	return c
}

// change finds an order and lets f change it. What f refuses stays as it was.
func (s *Shop) change(id string, f func(o *order) error) (order, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.orders, func(o *order) bool { return o.ID == id })
	if i < 0 {
		return order{}, fmt.Errorf("there is no order %s; list_orders shows those there are", strconv.Quote(id))
	}
	if f != nil {
		if err := f(s.orders[i]); err != nil {
			return order{}, err
		}
	}
	return s.orders[i].copy(), nil
}

// place makes an order. The oldest is forgotten when there are too many.
func (s *Shop) place(customer, title string, copies int) (order, error) {
	i := slices.IndexFunc(shelf(), func(b book) bool { return strings.EqualFold(b.Title, title) })
	if i < 0 {
		return order{}, fmt.Errorf("the shop does not have %s; search_books finds what it has", strconv.Quote(title))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	o := &order{ID: strconv.Itoa(s.next), Customer: customer, Status: "open", Lines: []line{{shelf()[i].Title, copies}}}
	s.next++
	s.orders = append(s.orders, o)
	if len(s.orders) > maxOrders {
		s.orders = slices.Delete(s.orders, 0, 1)
	}
	return o.copy(), nil
}

func (s *Shop) cancel(id, reason string) (order, error) {
	return s.change(id, func(o *order) error {
		if o.Status != "open" {
			return fmt.Errorf("order %s is %s and cannot be cancelled", o.ID, o.Status)
		}
		o.Status = "cancelled"
		return o.note("Cancelled: " + reason)
	})
}

func (o *order) note(text string) error {
	if len(o.Notes) == maxNotes {
		o.Notes = slices.Delete(o.Notes, 0, 1)
	}
	o.Notes = append(o.Notes, text)
	return nil
}

// line gives one line of an order, counted from 1, and sets its copies unless they are 0.
func (s *Shop) line(id string, n, copies int) (l line, err error) {
	_, err = s.change(id, func(o *order) error {
		if n < 1 || n > len(o.Lines) {
			return fmt.Errorf("order %s has lines 1 to %d", o.ID, len(o.Lines))
		}
		if copies > 0 && o.Status != "open" {
			return fmt.Errorf("order %s is %s and cannot be changed", o.ID, o.Status)
		}
		if copies > 0 {
			o.Lines[n-1].Copies = copies
		}
		l = o.Lines[n-1]
		return nil
	})
	return l, err
}

// text shows an order to a reader.
func (o order) text() string {
	var b strings.Builder
	for i, l := range o.Lines {
		fmt.Fprintf(&b, "%d. %s, %d\n", i+1, l.Book, l.Copies)
	}
	for _, n := range o.Notes {
		fmt.Fprintf(&b, "Note: %s\n", n)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
