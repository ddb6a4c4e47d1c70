package config

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"
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

// fill reads keys by their rows into the struct that into points to: flags, numbers, durations, and strings of which some
// are allowed.
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

// split gives what holds for a server that runs, and all else.
func (s *Server) split() (live, rest Server) {
	rest = *s
	to, from := reflect.ValueOf(&live).Elem(), reflect.ValueOf(&rest).Elem()
	for field := range from.Type().Fields() {
		if field.Tag.Get("live") == "yes" {
			to.FieldByIndex(field.Index).Set(from.FieldByIndex(field.Index))
			from.FieldByIndex(field.Index).SetZero()
		}
	}
	return live, rest
}
