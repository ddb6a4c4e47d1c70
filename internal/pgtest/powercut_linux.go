package pgtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Base ends the server and keeps its data as they are, for CutPower.
func (p *Server) Base() error {
	p.Crash()
	return p.copy(p.data(), p.base())
}

func (p *Server) base() string { return filepath.Join(p.dir, "base") }

func (p *Server) copy(from, to string) error {
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("cp: %w\n%s", err, out)
	}
	return nil
}

// CutPower ends the server and all its processes by SIGKILL, and leaves of its data what a disk must have after a power
// cut and no more: its log up to where that was flushed, and the pages as they were at Base. Nobody may wait for a
// commit meanwhile.
func (p *Server) CutPower(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, p.dsn("postgres"))
	if err != nil {
		return err
	}
	var flushed string
	if err := conn.QueryRow(ctx, "SELECT pg_current_wal_flush_lsn()::text").Scan(&flushed); err != nil {
		return err
	}
	children := childrenOf(p.cmd.Process.Pid)
	_ = p.cmd.Process.Kill()
	for _, pid := range children {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	_ = p.cmd.Wait() // It was killed.
	for _, pid := range children {
		for state(pid) != "" && state(pid) != "Z" {
			time.Sleep(time.Millisecond)
		}
	}
	_ = conn.Close(ctx) // whose server is gone
	log := filepath.Join(p.dir, "log")
	if err := os.Rename(filepath.Join(p.data(), "pg_wal"), log); err != nil {
		return err
	}
	if err := cutLog(log, flushed); err != nil {
		return err
	}
	if err := os.RemoveAll(p.data()); err != nil {
		return err
	}
	if err := p.copy(p.base(), p.data()); err != nil {
		return err
	}
	wal := filepath.Join(p.data(), "pg_wal")
	_ = os.Remove(filepath.Join(p.data(), "postmaster.pid")) // if there is one
	if err := os.RemoveAll(wal); err != nil {
		return err
	}
	return os.Rename(log, wal)
}

// cutLog takes from a log what stands behind a place in it.
func cutLog(dir, place string) error {
	const segment = 16 << 20
	high, low, _ := strings.Cut(place, "/")
	h, err := strconv.ParseUint(high, 16, 32)
	if err != nil {
		return err
	}
	l, err := strconv.ParseUint(low, 16, 32)
	if err != nil {
		return err
	}
	last := fmt.Sprintf("00000001%08X%08X", h, l/segment)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		switch {
		case e.IsDir() || e.Name() < last:
		case e.Name() > last:
			if err := os.Remove(name); err != nil {
				return err
			}
		default:
			if err := os.Truncate(name, int64(l%segment)); err != nil {
				return err
			}
			if err := os.Truncate(name, segment); err != nil { // with zeros
				return err
			}
		}
	}
	return nil
}

func childrenOf(parent int) (pids []int) {
	names, _ := filepath.Glob("/proc/[0-9]*/stat") // The pattern is sound.
	for _, name := range names {
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil && len(stat(pid)) > 1 && stat(pid)[1] == strconv.Itoa(parent) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// state is how a process is, such as T for stopped; "" for one that there is not.
func state(pid int) string {
	if fields := stat(pid); len(fields) > 0 {
		return fields[0]
	}
	return ""
}

// stat are the fields about a process from its state on.
func stat(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
}

// Halt stops a process, and returns when all its threads have stopped.
func Halt(pid int) error {
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return err
	}
	for {
		running := false
		names, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid)) // The pattern is sound.
		for _, name := range names {
			text, err := os.ReadFile(name)
			running = running || err == nil && !strings.HasPrefix(string(text[strings.LastIndexByte(string(text), ')')+1:]), " T")
		}
		if !running {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
}
