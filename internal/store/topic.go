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

// topicsLike finds the keys of a principal's topics that lie between two, but for that of a conversation. The index has no empty
// ones, so it is used if these are asked for expressly to be left out.
const topicsLike = `SELECT topic_key FROM conversations
	WHERE principal = $1 AND topic_key <> '' AND topic_key >= $2 AND topic_key < $3 AND id <> $4`

// uniqueTopic returns topic, or topic with the least number from 2 behind it that makes it the only one of the principal, not
// counting the conversation itself. It is called in a transaction that holds off others that choose a topic.
func uniqueTopic(ctx context.Context, q querier, principal, conversation, topic string) (string, error) {
	topic = cleanTopic(topic)
	key := topicKey(topic)
	if key == "" {
		return "", nil
	}
	rows, err := q.QueryContext(ctx, topicsLike, principal, key, key+":", conversation) // ":" follows "9": what begins with the key and a digit, and some more
	if err != nil {
		return "", err
	}
	defer rows.Close()
	taken := make(map[string]bool)
	for rows.Next() {
		var other string
		if err := rows.Scan(&other); err != nil {
			return "", err
		}
		taken[other] = true
	}
	if err := rows.Err(); err != nil {
		return "", err
	}
	if !taken[key] {
		return topic, nil
	}
	n := 2
	for taken[key+strconv.Itoa(n)] { // the key of the topic with the number
		n++
	}
	return topic + " " + strconv.Itoa(n), nil
}
