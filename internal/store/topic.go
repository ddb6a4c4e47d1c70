package store

import (
	"context"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// maxTopic is the most bytes of a topic; a longer one is cut.
const maxTopic = 200

// topicKey is what two topics have in common that differ in case and white space alone.
func topicKey(topic string) string {
	folded := cases.Fold().String(norm.NFKC.String(topic))
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == 0 {
			return -1
		}
		return r
	}, folded)
}

// cleanTopic makes one line of a topic.
func cleanTopic(topic string) string {
	topic = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(topic, "\ufffd"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	if len(topic) <= maxTopic {
		return topic
	}
	cut := maxTopic
	for !utf8.RuneStart(topic[cut]) {
		cut--
	}
	return strings.TrimSpace(topic[:cut])
}

// topicTaken finds a conversation of a principal with the key of a topic, but for one conversation.
const topicTaken = `SELECT COUNT(*) FROM conversations WHERE principal = $1 AND topic_key = $2 AND topic_key <> '' AND id <> $3`

// uniqueTopic returns topic, or topic with a number from 2 behind it that makes it the only one of the principal, not
// counting the conversation itself: the number before it is taken. It looks at few of those that are, however many
// there are. It is called in a transaction that holds off others that choose a topic.
func uniqueTopic(ctx context.Context, q querier, principal, conversation, topic string) (string, error) {
	topic = cleanTopic(topic)
	key := topicKey(topic)
	if key == "" {
		return "", nil
	}
	taken := func(key string) (bool, error) {
		var n int
		err := q.QueryRowContext(ctx, topicTaken, principal, key, conversation).Scan(&n)
		return n > 0, err
	}
	if is, err := taken(key); err != nil || !is {
		return topic, err
	}
	// The numbers up to low are taken as far as was looked, and high is free.
	low, high := 1, 2
	for {
		is, err := taken(key + strconv.Itoa(high)) // the key of the topic with the number
		if err != nil {
			return "", err
		}
		if !is {
			break
		}
		low, high = high, 2*high
	}
	for high-low > 1 {
		middle := (low + high) / 2
		switch is, err := taken(key + strconv.Itoa(middle)); {
		case err != nil:
			return "", err
		case is:
			low = middle
		default:
			high = middle
		}
	}
	return topic + " " + strconv.Itoa(high), nil
}
