//go:build !linux

package main

import "time"

// cpuTime is not to be had here.
func cpuTime(int) (time.Duration, bool) { return 0, false }

// load is not told here.
func load() string { return "" }

// resident is not to be had here.
func resident(int) (float64, bool) { return 0, false }

func anonymous(int) (float64, bool) { return 0, false }

func firstChild(int) int { return 0 }
