// Package model asks language models. A [Client] does so over any endpoint that answers chat completions as OpenAI
// does: hosted ones, gateways, and servers on this machine such as llama.cpp, vLLM and Ollama. A [Sampled] asks the
// model that an MCP client lends.
//
//	c, err := model.New("http://127.0.0.1:11434/v1", model.Options{Models: model.Models{Default: "qwen3:8b"}})
//	reply, err := c.Complete(ctx, model.Request{Role: model.Planner, Messages: …, Tools: …})
//
// A [Request] names a role, and the [Client] the model that plays it. One Client serves any number of goroutines; it
// starts none and has nothing to close.
//
// A reply is read as a stream where the request wants to hear its text as it comes, and in one piece where the endpoint
// has no stream that can be read.
//
// Everything is bounded: the bytes and the tokens of a reply, the time of a request, the tries and the rest between
// them. The key goes to the endpoint alone, over https or within this machine; no redirect is followed, and neither
// errors nor log lines hold it.
package model
