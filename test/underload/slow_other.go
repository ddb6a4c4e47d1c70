//go:build !linux

package main

import (
	"errors"
	"time"
)

var errNoSlowSyncs = errors.New("syncs can be slowed on Linux only")

func slowSyncs(time.Duration) ([]string, func(), error) { return nil, nil, errNoSlowSyncs }

func becomeSlowed([]string) error { return errNoSlowSyncs }
