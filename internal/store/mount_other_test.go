//go:build !linux

package store_test

import (
	"context"
	"errors"
)

func playMounted(context.Context, []string) error { return errors.ErrUnsupported }

func playDenied(context.Context, []string) error { return errors.ErrUnsupported }
