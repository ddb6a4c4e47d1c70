package command

import "sync"

// Find gives the names of the commands that an instruction may mean from where a path ends, the likeliest first.
func Find(w *Workflow, at Path, query string) []string {
	var list []string
	for _, c := range Again(w, Options{}).words().find(query, at, w.visibleAt(at)) {
		list = append(list, c.command.Name)
	}
	return list
}

var indexed sync.Map // the indexes of workflows

// Again is New for a workflow that many engines of one test are made of: they share what is known of its words.
func Again(w *Workflow, opts Options) *Engine {
	e := New(w, opts)
	shared, _ := indexed.LoadOrStore(w, e.words)
	e.words = shared.(func() *index)
	return e
}
