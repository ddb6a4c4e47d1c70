package oauth

import (
	"errors"
	"net/http"
)

// Do sends a request to the server with a token, "" for none, and with a proof if the token is bound to a key. A server
// may want a nonce in proofs that it tells when it refuses one: the request is then sent once more, for nobody has
// acted on it, and never a third time.
func (c *Client) Do(client *http.Client, req *http.Request, token string) (*http.Response, error) {
	if token == "" {
		return client.Do(req)
	}
	key, err := c.boundTo()
	if err != nil {
		return nil, err
	}
	if key == nil {
		return client.Do(withToken(req, "Bearer", token))
	}
	client = proving(client, key, token, &c.serverNonce)
	resp, err := client.Do(withToken(req, proofHeader, token))
	if err != nil || resp.StatusCode != http.StatusUnauthorized || ParseChallenge(resp.Header).Error != UseNonce || !new(nonce).note(resp.Header) {
		return resp, err
	}
	_ = resp.Body.Close()
	return client.Do(withToken(req, proofHeader, token))
}

// withToken returns a request of its own, so that the same may be sent twice.
func withToken(req *http.Request, scheme, token string) *http.Request {
	req = req.Clone(req.Context())
	if req.GetBody != nil {
		req.Body, _ = req.GetBody() // of bytes in memory
	}
	req.Header.Set("Authorization", scheme+" "+token)
	return req
}

// boundTo returns the key that the token is bound to; nil if whoever has the token may use it.
func (c *Client) boundTo() (*proofKey, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.current.Bound {
		return nil, nil
	}
	if c.key == nil || string(c.keyOf) != string(c.current.Key) {
		key, err := readProofKey(c.current.Key)
		if err != nil || key == nil {
			return nil, errors.Join(err, errors.New("the login has no key that its token is bound to"))
		}
		c.key, c.keyOf = key, c.current.Key
	}
	return c.key, nil
}
