// Package tokens says who may do what over HTTP: by tokens that were made here and are kept in a file, and by JSON Web
// Tokens of an issuer that is trusted.
//
// A kept token is 256 random bits. The file has their SHA-256 alone, so that who reads it has no token; a token is
// shown once, when it is made. Processes that have the file open see within a second what others change in it.
package tokens
