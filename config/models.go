package config

import (
	"net/url"
	"strings"
	"time"
)

// Models says which language models the built-in servers may ask, over an endpoint of chat completions as OpenAI
// defines them, and of embeddings. The zero value means none. Each role without a model of its own is played by
// Default.
type Models struct {
	BaseURL   string `key:"baseUrl"` // https, or http on this machine
	APIKey    string `key:"apiKey"`  // sent as a bearer token; a secret
	Default   string `key:"default"`
	Planner   string `key:"planner"`
	Agent     string `key:"agent"`
	Assistant string `key:"assistant"`
	Summary   string `key:"summary"`
	// Embeddings is the model that ranks tools by what they mean; "" means that none does.
	Embeddings string `key:"embeddings"`

	ReplyTimeout time.Duration `key:"replyTimeout"`                                   // how long one reply may take
	MaxTokens    int           `key:"maxTokens" least:"1" most:"1048576" of:"tokens"` // how long one reply may be

	// Problem, when not nil, says why the models cannot be asked, as the Problem of a [Server] does.
	Problem error
}

// Answer reports whether some role is played.
func (m *Models) Answer() bool {
	return m.Default != "" || m.Planner != "" || m.Agent != "" || m.Assistant != "" || m.Summary != ""
}

// What holds where "models" is silent.
const (
	DefaultReplyTimeout = time.Minute
	DefaultMaxTokens    = 4096
)

// readModels reads what is said of language models. What is wrong with its variables becomes its Problem.
func readModels(o *object, m *Models) {
	defer o.c.tolerate(&m.Problem)()

	m.ReplyTimeout, m.MaxTokens = DefaultReplyTimeout, DefaultMaxTokens
	if v, ok := o.text("baseUrl", true); ok {
		m.BaseURL = v.text
		if wrong := wrongBase(v.text); wrong != "" {
			o.c.reject(v, wrong, "")
		}
	}
	if v, ok := o.text("apiKey", true); ok {
		m.APIKey = v.text
		if !v.sealed && strings.ContainsFunc(v.text, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
			o.c.reject(v, "want a key without spaces, line ends and letters beyond ASCII", "")
		}
	}
	roles := []struct {
		key  string
		name *string
	}{{"default", &m.Default}, {"planner", &m.Planner}, {"agent", &m.Agent}, {"assistant", &m.Assistant}, {"summary", &m.Summary}}
	o.filled("embeddings", false, &m.Embeddings, "want a model's name", "")
	var without []string
	for _, role := range roles {
		o.filled(role.key, false, role.name, "want a model's name", "")
		if !o.has(role.key) {
			without = append(without, role.key)
		}
	}
	o.fill(m, "replyTimeout", "maxTokens")
	o.done(foreignModelsKey)
	if !o.has("baseUrl") {
		o.c.fault(o.at, o.path, "want a baseUrl in models, got none", "such as https://api.openai.com/v1, or http://127.0.0.1:11434/v1 for Ollama")
	}
	alone := len(without) == len(roles) && o.has("embeddings") // models that answer nothing
	if len(without) > 1 && without[0] == "default" && !alone {
		o.c.fault(o.at, o.path, "want a default model, or one for each role, got none for "+strings.Join(without[1:], ", "), "")
	}
}

// foreignModelsKey hints at what other programs call the keys.
func foreignModelsKey(key string) string {
	switch key {
	case "url", "base_url", "apiBase", "api_base", "endpoint":
		return `did you mean "baseUrl"?`
	case "key", "api_key", "token":
		return `did you mean "apiKey"?`
	case "model", "name":
		return `did you mean "default"?`
	case "embedding", "embed", "embeddingModel":
		return `did you mean "embeddings"?`
	case "timeout":
		return `did you mean "replyTimeout"?`
	}
	return ""
}

// wrongBase says what the address of an endpoint should be like, or "" if it is. What is sent there is a key and what
// users say, so that it does not cross a network unencrypted.
func wrongBase(text string) string {
	if u, err := url.Parse(text); err == nil && isURL(text) && u.User != nil {
		return "want a URL without user and password, which have no place beside the apiKey"
	}
	return wrongKeys(text)
}
