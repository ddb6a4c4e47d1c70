// Package tokencount reckons how many tokens of a language model a text has, by its bytes: no tokenizer of any model is
// here.
package tokencount

// BytesPerToken is what tokens are reckoned at.
const BytesPerToken = 4

// Of gives the tokens of so many bytes.
func Of(bytes int) int { return bytes / BytesPerToken }
