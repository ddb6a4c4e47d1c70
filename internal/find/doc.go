// Package find ranks tools by what a model or a person asks for, with term statistics alone: no model, no network, no
// file.
//
//	index := find.New(slices.Values(servers)) // with their tools, prompts and skills
//	answer := index.Answer("open a ticket", find.Options{Detail: find.Signatures})
//
// A text is cut into words at everything that is no letter or digit and where a name changes from small to capital
// letters. Words lose their common English endings, words of writing without spaces (Chinese, Japanese, Korean, Thai)
// become pairs of characters, and a small table knows words that tool authors use for the same thing. Each entry is
// read in fields that count differently; a word counts by how rare it is (BM25 over fields). A word of the query that
// no entry has counts for the words that share most of its letters. A query of several clauses is also taken clause by
// clause, and the one that an entry answers best counts more. A server is as good as its best two entries.
//
// An Index never changes after New and may be used by several goroutines at once. Texts come from servers and are not
// trusted: what is read of each is bounded, and so is a query.
package find
