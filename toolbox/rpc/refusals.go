package rpc

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/toolbox/link"
	"github.com/mcp-workbench/workbench/toolbox/remote"
)

// saysNothingOfEra reports whether a remote server refused a request for who
// asks or how often, and not for what it asks.
func saysNothingOfEra(err error) bool {
	var status *remote.StatusError
	return errors.As(err, &status) &&
		slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests}, status.Status)
}

// SpeaksModern reports whether a server refused a revision and named the one of
// the modern era among those it speaks: it is to be asked again by that one
// (specification 2026-07-28, basic, versioning), and not to be taken for one of
// the legacy era.
func SpeaksModern(err error) bool {
	var refusal *link.RPCError
	if !errors.As(err, &refusal) || refusal.Code != eras.UnsupportedVersion {
		return false
	}
	var data struct {
		Supported []string `json:"supported"`
	}
	return json.Unmarshal(refusal.Data, &data) == nil && slices.Contains(data.Supported, mcp.LATEST_PROTOCOL_VERSION)
}

// MayBeOfEra reports whether a request may have been refused because it is of the
// legacy era: with the revision that the server has, or, over HTTP, as a bad
// request without a word that can be relied on.
func MayBeOfEra(err error) bool {
	var status *remote.StatusError
	return SpeaksModern(err) || errors.As(err, &status) && status.Status == http.StatusBadRequest
}
