package criteria

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A schema is a compiled JSON Schema that can be stopped. The library gives no way to pass anything to one validation,
// so that runs of one schema are one after the other, under mu.
type schema struct {
	compiled *jsonschema.Schema

	mu     sync.Mutex
	meter  *meter // of the current run
	visits int
}

// schemaLimit bounds a schema, in values: compiling takes time by the square of it.
const schemaLimit = 10_000

// compileSchema compiles a JSON Schema: draft-07 unless "$schema" names another draft.
func compileSchema(v any) (*schema, error) {
	if err := checkSize(v, schemaLimit); err != nil {
		return nil, err
	}
	s := &schema{}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft7)
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(s.engine)
	c.AssertVocabs()
	known := newKeywords()
	c.RegisterVocabulary(&jsonschema.Vocabulary{
		URL: "urn:workbench:vocabulary",
		// Compile is called for each part of the schema, for which Enqueue of no path stands.
		Compile: func(ctx *jsonschema.CompilerContext, members map[string]any) (jsonschema.SchemaExt, error) {
			part := ctx.Enqueue(nil)
			s.hook(part)
			return nil, known.check(part, members)
		},
	})
	const url = "workbench:///schema" // a path, so that a relative reference leads elsewhere
	if err := c.AddResource(url, clone(v)); err != nil {
		return nil, err
	}
	var err error
	if s.compiled, err = c.Compile(url); err != nil {
		return nil, explainCompile(err)
	}
	return s, nil
}

// noLoader keeps a schema from reaching for files and the network.
type noLoader struct{}

func (noLoader) Load(string) (any, error) {
	return nil, errors.New("a schema may refer only to itself and to the published drafts")
}

// unjudged is what a run panics with when its time is over: the library passes no error through, and holds nothing that
// would need to be released.
type unjudged struct {
	err   error
	text  *string // the string of the value, or the name of a property, that was being matched; nil for anything else
	where string  // the first place of it
}

func (e *unjudged) Error() string { return e.err.Error() }

func (e *unjudged) Unwrap() error { return e.err }

// run validates v. faults is what is wrong with v; err says that it could not be judged.
func (s *schema) run(v any, m *meter) (faults *jsonschema.ValidationError, err error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m.asked = time.Now() // The wait for another call's judgement is not this call's work.
	s.meter, s.visits = m, 0
	defer func() {
		s.meter = nil
		if r := recover(); r != nil {
			stop, ok := r.(*unjudged)
			if !ok {
				panic(r)
			}
			stop.where = holder(v, stop.text)
			faults, err = nil, stop
		}
	}()
	if err := s.compiled.Validate(v); err != nil && !errors.As(err, &faults) {
		return nil, err
	}
	return faults, nil
}

// visit counts a value that is held against a part of the schema, and stops the run when its time is over.
func (s *schema) visit() {
	if s.visits++; s.visits%64 != 0 {
		return
	}
	if err := s.meter.check(); err != nil {
		panic(&unjudged{err: err})
	}
}

// hook stands in the place of "format" in a part of the schema: it is the one check that the library makes for every
// value. A format is no demand.
func (s *schema) hook(part *jsonschema.Schema) {
	part.Format = &jsonschema.Format{Validate: func(any) error { s.visit(); return nil }}
}

// engine compiles the regular expressions of the schema, which JSON Schema wants in the ECMAScript dialect.
func (s *schema) engine(source string) (jsonschema.Regexp, error) {
	p, err := compilePattern(source, "")
	if err != nil {
		return nil, err
	}
	return schemaPattern{p, s}, nil
}

type schemaPattern struct {
	pattern *pattern
	schema  *schema
}

func (p schemaPattern) String() string { return p.pattern.source }

func (p schemaPattern) MatchString(text string) bool {
	start, _, err := p.pattern.find([]rune(text), p.schema.meter)
	if err != nil {
		panic(&unjudged{err: err, text: &text})
	}
	return start >= 0
}

// holder finds the first place in v that is a string, or the property of a name; "" if there is none.
func holder(v any, text *string) string {
	if text == nil {
		return ""
	}
	path, found := holderBelow(v, "", *text)
	if !found {
		return ""
	}
	return spot(path)
}

func holderBelow(v any, path, text string) (at string, found bool) {
	switch v := v.(type) {
	case string:
		return path, v == text
	case []any:
		for i, item := range v {
			if at, found := holderBelow(item, pointer(path, strconv.Itoa(i)), text); found {
				return at, true
			}
		}
	case map[string]any:
		for _, k := range sortedKeys(v) {
			if k == text {
				return pointer(path, k), true
			}
			if at, found := holderBelow(v[k], pointer(path, k), text); found {
				return at, true
			}
		}
	}
	return "", false
}

// explainCompile words what the library says about a schema it rejects.
func explainCompile(err error) error {
	var invalid *jsonschema.SchemaValidationError
	var faults *jsonschema.ValidationError
	if !errors.As(err, &invalid) || !errors.As(invalid.Err, &faults) {
		return err
	}
	nodes := explainFaults(faults, nil)
	if len(nodes) == 0 {
		return err
	}
	n := nodes[0]
	for len(n.Children) > 0 && len(n.Children[0].Children) > 0 { // The first alternative says more than that there are some.
		n = n.Children[0].Children[0]
	}
	return fmt.Errorf("%s: %s", n.Where, n.Expected)
}
