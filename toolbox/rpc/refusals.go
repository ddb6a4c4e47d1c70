package rpc

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/toolbox/link"
	"github.com/mcp-workbench/workbench/toolbox/remote"
)

// saysNothingOfEra reports whether a remote server refused a request for who asks or how often, and not for what it
// asks.
func saysNothingOfEra(err error) bool {
	return slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests}, remote.StatusOf(err))
}

// Wanted gives the revision by which a server is to be asked again that refused another and named those it speaks
// (specification 2026-07-28, basic, versioning), and that is not to be taken for one of the legacy era; "" for none.
func Wanted(err error) string {
	refusal, ok := errors.AsType[*link.RPCError](err)
	if !ok || refusal.Code != eras.UnsupportedVersion {
		return ""
	}
	var data struct {
		Supported []string `json:"supported"`
	}
	_ = json.Unmarshal(refusal.Data, &data) // one that cannot be read names none
	if r := eras.Shared(data.Supported); eras.Of(r).IsStateless() {
		return r
	}
	return ""
}

// MayBeOfEra reports whether a request may have been refused because it is of the legacy era: with the revision that
// the server has, or, over HTTP, as a bad request without a word that can be relied on.
func MayBeOfEra(err error) bool {
	return Wanted(err) != "" || remote.StatusOf(err) == http.StatusBadRequest
}
