package command

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// describe shows the values that a command would run with, all of each: who agrees to them has nothing else to go by.
// Short ones stand inline; below are the long ones, by line, and what becomes of one that the place has already.
func describe(c *Command, args arguments, at Path) (inline, below string) {
	var parts []string
	for _, p := range c.Params {
		v, ok := args[p.Name]
		if !ok {
			continue
		}
		old, known := at.lookup(p.Name)
		changed := known && p.FromContext == "" && string(old) != string(v)
		switch {
		case !long(v) && changed && !long(old):
			parts = append(parts, p.Name+" "+shown(string(old))+" → "+shown(string(v)))
		case !long(v):
			parts = append(parts, p.Name+" "+shown(string(v)))
		default:
			parts = append(parts, p.Name+" (below)")
			below += "\n\n" + p.Name + ":\n"
			if changed {
				below += strings.Join(difference(lines(old), lines(v)), "\n")
			} else {
				below += "| " + strings.Join(lines(v), "\n| ")
			}
		}
	}
	if len(parts) == 0 {
		return "", ""
	}
	return " with " + strings.Join(parts, ", "), below
}

func long(v json.RawMessage) bool {
	return utf8.RuneCount(v) > maxInline || strings.Contains(plain(v), "\n")
}

// lines are the lines of a value, long ones folded.
func lines(v json.RawMessage) []string {
	var list []string
	for line := range strings.SplitSeq(plain(v), "\n") {
		for runes := []rune(line); ; {
			n := min(foldAt, len(runes))
			list = append(list, shown(string(runes[:n])))
			if runes = runes[n:]; len(runes) == 0 {
				break
			}
		}
	}
	return list
}

// maxCompared is how many lines two texts may have to be compared.
const maxCompared = 500

// difference shows what becomes of lines: those with - go and those with + come.
func difference(old, now []string) []string {
	var list []string
	head := 0
	for head < min(len(old), len(now)) && old[head] == now[head] {
		head++
	}
	tail := 0
	for tail < min(len(old), len(now))-head && old[len(old)-1-tail] == now[len(now)-1-tail] {
		tail++
	}
	for _, line := range old[:head] {
		list = append(list, "  "+line)
	}
	list = append(list, edits(old[head:len(old)-tail], now[head:len(now)-tail])...)
	for _, line := range old[len(old)-tail:] {
		list = append(list, "  "+line)
	}
	return list
}

// edits compares by the longest lines in common; what is too much for that goes and comes as a whole.
func edits(old, now []string) []string {
	var list []string
	if len(old)*len(now) > maxCompared*maxCompared {
		return append(marked("- ", old), marked("+ ", now)...)
	}
	common := make([][]int, len(old)+1) // of the rest of both, from i and j on
	for i := range common {
		common[i] = make([]int, len(now)+1)
	}
	for i := len(old) - 1; i >= 0; i-- {
		for j := len(now) - 1; j >= 0; j-- {
			if old[i] == now[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(old) && j < len(now) {
		switch {
		case old[i] == now[j]:
			list = append(list, "  "+old[i])
			i, j = i+1, j+1
		case common[i+1][j] >= common[i][j+1]:
			list = append(list, "- "+old[i])
			i++
		default:
			list = append(list, "+ "+now[j])
			j++
		}
	}
	return append(append(list, marked("- ", old[i:])...), marked("+ ", now[j:])...)
}

func marked(mark string, lines []string) []string {
	list := make([]string, len(lines))
	for i, line := range lines {
		list[i] = mark + line
	}
	return list
}
