// Package meaning ranks texts by how near what they mean is to a query, by the vectors that a model makes of texts.
//
//	m := meaning.New(model, file)
//	defer m.Close()
//	votes, err := m.Votes(ctx, texts, "open a ticket") // a vote for each text, 0 for most
//
// A vector is kept by the digest of its text, as bytes, in memory and in a file for later runs: a text is sent to the
// model once. Vectors that are missing are asked for beside the searches, on one goroutine that ends with Close. Votes
// waits for a model no longer than two seconds, and one that failed is not asked again for half a minute: whoever
// searches does without votes then and is told why.
package meaning
