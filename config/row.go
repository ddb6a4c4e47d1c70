package config

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/document"
)

// The row of a key is the field that it fills, with what its tags say:
//
//	key    how the file spells it
//	enum   what a string may be, divided by commas
//	least  the bounds of a number or a duration
//	most
//	of     what a number counts
//	live   "yes" for a key of a server that holds for one that runs; any other key has the server started anew
//
// The reader, the schema, and what decides whether a server is started anew and found in the catalogue, all go by it.

// rowsOf are the rows of structs by their types: a file may have thousands of servers.
var rowsOf sync.Map

// row finds the field of a struct that a key fills.
func row(t reflect.Type, key string) reflect.StructField {
	rows, ok := rowsOf.Load(t)
	if !ok {
		found := make(map[string]reflect.StructField)
		for field := range t.Fields() {
			found[field.Tag.Get("key")] = field
		}
		rows, _ = rowsOf.LoadOrStore(t, found)
	}
	field, ok := rows.(map[string]reflect.StructField)[key]
	if !ok {
		panic(fmt.Sprintf("config: %s has no field of the key %q", t, key))
	}
	return field
}

// bounds are those of a key whose value is a whole number of something.
func bounds(field reflect.StructField) (least, most int, of string) {
	_, _ = fmt.Sscan(field.Tag.Get("least")+" "+field.Tag.Get("most"), &least, &most) // a number without bounds fits nothing
	return least, most, field.Tag.Get("of")
}

// span is the shortest and the longest duration that a key takes.
func span(field reflect.StructField) (least, most time.Duration) {
	least, _ = time.ParseDuration(cmp.Or(field.Tag.Get("least"), "1ms"))
	most, _ = time.ParseDuration(cmp.Or(field.Tag.Get("most"), "24h"))
	return least, most
}

// fill reads keys by their rows into the struct that into points to: flags, numbers, durations, and strings of which
// some are allowed.
func (o *object) fill(into any, keys ...string) {
	v := reflect.ValueOf(into).Elem()
	for _, key := range keys {
		field := row(v.Type(), key)
		at := v.FieldByIndex(field.Index)
		switch to := at.Addr().Interface().(type) {
		case *bool:
			o.flag(key, to)
		case *int:
			o.count(field, to)
		case *time.Duration:
			o.duration(field, to)
		default:
			if chosen, ok := o.choice(key, strings.Split(field.Tag.Get("enum"), ",")...); ok {
				at.SetString(chosen.text)
			}
		}
	}
}

// flag reads a boolean into b.
func (o *object) flag(key string, b *bool) {
	n, path, ok := o.take(key)
	switch {
	case !ok:
	case n.Kind == document.Boolean:
		*b = n.Value == "true"
	default:
		o.c.fault(position{n.Line, n.Column}, path, "want true or false, got "+got(n, false), "")
	}
}

// count reads a whole number into count.
func (o *object) count(field reflect.StructField, count *int) {
	n, path, ok := o.take(field.Tag.Get("key"))
	if !ok {
		return
	}
	least, most, of := bounds(field)
	switch {
	case n.Kind == document.Number && number(n) >= float64(least) && number(n) <= float64(most) && number(n) == math.Trunc(number(n)):
		*count = int(number(n))
	default:
		o.c.fault(position{n.Line, n.Column}, path, fmt.Sprintf("want a whole number of %s from %d to %d, got %s", of, least, most, got(n, false)), "")
	}
}

// duration reads a duration into d: a string such as "30s" or a number of seconds.
func (o *object) duration(field reflect.StructField, d *time.Duration) {
	n, path, ok := o.take(field.Tag.Get("key"))
	if !ok {
		return
	}
	least, most := span(field)
	want, example := fmt.Sprintf("want a duration from %v to %.0fh", least, most.Hours()), "30s"
	if least > time.Hour {
		want, example = fmt.Sprintf("want a duration from %.0fh to %.0fh", least.Hours(), most.Hours()), "720h"
	}
	want += fmt.Sprintf(" such as %q, or a number of seconds", example)
	switch {
	case n.Kind == document.Number:
		// Compared as a number: what is absurd may not fit a duration, and NaN is out of every range.
		if ns := number(n) * float64(time.Second); ns >= float64(least) && ns <= float64(most) {
			*d = time.Duration(math.Round(ns))
			return
		}
		o.c.fault(position{n.Line, n.Column}, path, want+", got "+got(n, false), "")
	case n.Kind == document.Text:
		v, ok := o.c.text(n, path, false)
		if !ok {
			return
		}
		parsed, err := time.ParseDuration(v.text)
		if err != nil || parsed < least || parsed > most {
			o.c.reject(v, want, "")
			return
		}
		*d = parsed
	default:
		o.c.fault(position{n.Line, n.Column}, path, want+", got "+got(n, false), "")
	}
}
