// Package oauth logs in to MCP servers that want OAuth, as the authorization pages of the MCP specification (2025-11-25
// and 2026-07-28) say: it finds the authorization server by metadata (RFC 9728, RFC 8414, OpenID Connect Discovery),
// registers itself there (RFC 7591) unless it is given a client, has a person consent in a browser (authorization code
// with PKCE, RFC 9207), and keeps and refreshes the tokens. Where no person logs in, a token is got for the client's
// own credentials (RFC 6749, section 4.4), for what its platform says of it (RFC 7523), or for what the identity
// provider of an enterprise says of its user (RFC 8693). A client shows who it is by a secret or by what it signs.
// Tokens can be bound to a key (DPoP, RFC 9449).
//
// A [Client] is one server's. Whoever sends requests asks it for a token ([Client.Token]), and for another one when the
// server refused that ([Client.Renew]); neither ever asks a person. [Client.Login] does.
//
//	Token ──> request ──401──> Renew ──> request again, once
//	                             └─> *LoginError: a person has to log in
//
// A client is made of what finds out where tokens are got (places) and of what gets them there (grants); neither knows
// the client, nor what is kept.
//
// What is known of a login is one file of a [Store], shared by all processes: they renew a token one at a time, and see
// what another one has got.
//
// What metadata says is said by strangers. Requests made for it go to HTTPS addresses only, to this machine only if the
// server is on it, to no private network unless the configuration names the host, and are bounded in number, size and
// time.
//
// The exchanges at the token endpoint are those of golang.org/x/oauth2. The rest is written here because mcp-go's
// handler leaves out the check of iss, the refusal of servers without PKCE, scopes of challenges, client metadata
// documents, the bounds on addresses and sizes, and tokens shared by processes.
package oauth
