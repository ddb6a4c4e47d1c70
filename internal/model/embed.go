package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/logkey"
)

// maxVectors is how long an answer of vectors may be, in bytes.
const maxVectors = 16 << 20

// Embed has the model that is named for it make a vector of each text, in the order of the texts. It tries once.
func (c *Client) Embed(ctx context.Context, texts []string) (vectors [][]float32, err error) {
	name := c.opts.Models.Embeddings
	began := time.Now()
	defer func() {
		c.opts.Logger.Debug().Str(logkey.Model, name).Int(logkey.Attempt, 1).Dur(logkey.Dur, time.Since(began)).AnErr(logkey.Err, err).Msg("a model was asked")
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, c.opts.ReplyTimeout, errTimeout)
	defer cancel()
	body, err := json.Marshal(struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}{name, texts})
	if err != nil {
		return nil, err
	}
	resp, err := c.post(ctx, name, strings.TrimSuffix(c.endpoint, "chat/completions")+"embeddings", "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := readBody(name, resp, maxVectors)
	switch {
	case errors.Is(err, ErrTooLong):
		return nil, err
	case err != nil:
		return nil, c.unreached(ctx, name, err)
	}
	vectors, err = readVectors(data, len(texts))
	if err != nil {
		return nil, &Error{Model: name, Text: "the endpoint's answer has no embeddings: " + c.clean(err.Error()), garbled: true}
	}
	return vectors, nil
}

// readVectors reads an answer with so many vectors, each of which says which text it is of.
func readVectors(data []byte, count int) ([][]float32, error) {
	var answer struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, foreign.NewError(err)
	}
	vectors := make([][]float32, count)
	for _, d := range answer.Data {
		if d.Index < 0 || d.Index >= count || vectors[d.Index] != nil {
			return nil, errors.New("it numbers them in another way than the texts")
		}
		vectors[d.Index] = d.Embedding
	}
	for _, v := range vectors {
		if len(v) == 0 {
			return nil, errors.New("some are missing")
		}
	}
	return vectors, nil
}
