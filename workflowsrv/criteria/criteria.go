package criteria

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Criteria is what a step demands of its output, parsed.
type Criteria struct {
	root *rule // nil: no criteria, any output that is not blank will do
}

// rule is one node of criteria: a rule, or a combination of others.
type rule struct {
	kind      string // kindAll, "and", "or", "not", "contains", "regex", "length", "schema"
	message   string // from the file; "" means the default text
	condition *Condition
	children  []*rule

	value    string   // contains
	pattern  *pattern // regex
	min, max *number  // length
	schema   *schema  // schema
}

// Parse parses decoded JSON criteria: an array of rules, a composition {"and"|"or"|"not": …}, or a bare rule. nil and
// [] demand only an output that is not blank; {} demands nothing. The error is a *[ShapeError] or a *[SchemaError].
func Parse(v any) (*Criteria, error) {
	list, isList := v.([]any)
	switch m, isObject := v.(map[string]any); {
	case v == nil || isList && len(list) == 0:
		return &Criteria{}, nil
	case isList:
		return newCriteria(parseList(kindAll, list, "", 0))
	case isObject && len(m) == 0:
		return &Criteria{&rule{kind: kindAll}}, nil
	}
	return newCriteria(parseRule(v, "", 0))
}

func newCriteria(root *rule, err error) (*Criteria, error) {
	if err != nil {
		return nil, err
	}
	return &Criteria{root}, nil
}

func parseList(kind string, list []any, path string, depth int) (*rule, error) {
	r := &rule{kind: kind}
	for i, v := range list {
		at := pointer(path, strconv.Itoa(i))
		// A string in an array is a pattern, from before rules had types.
		if s, ok := v.(string); ok && kind == kindAll {
			v = map[string]any{"type": "regex", "pattern": s, "message": "Output does not match pattern: " + s}
		}
		child, err := parseRule(v, at, depth+1)
		if err != nil {
			return nil, err
		}
		r.children = append(r.children, child)
	}
	return r, nil
}

func parseRule(v any, path string, depth int) (*rule, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, &ShapeError{path, "a rule is an object, this is " + KindOf(v)}
	}
	if depth >= MaxDepth {
		return nil, &ShapeError{path, fmt.Sprintf("criteria nest deeper than %d", MaxDepth)}
	}
	if _, ok := m["type"]; ok {
		return parseLeaf(m, path)
	}
	keys := sortedKeys(m)
	if len(keys) != 1 || !slices.Contains([]string{opAnd, opOr, opNot}, keys[0]) {
		return nil, &ShapeError{path, `criteria are a rule with a "type", or exactly one of "and", "or" and "not"`}
	}
	op, at := keys[0], pointer(path, keys[0])
	if op == opNot {
		child, err := parseRule(m[op], at, depth+1)
		if err != nil {
			return nil, err
		}
		return &rule{kind: op, children: []*rule{child}}, nil
	}
	list, ok := m[op].([]any)
	if !ok {
		return nil, &ShapeError{at, fmt.Sprintf("%q takes an array of criteria, this is %s", op, KindOf(m[op]))}
	}
	if len(list) == 0 {
		return nil, &ShapeError{at, fmt.Sprintf("%q needs at least one rule", op)}
	}
	return parseList(op, list, at, depth)
}

func ruleMembers() []string {
	return []string{"type", "value", "pattern", "flags", "min", "max", "schema", "message", "condition"}
}

func parseLeaf(m map[string]any, path string) (*rule, error) {
	for _, k := range sortedKeys(m) {
		if !slices.Contains(ruleMembers(), k) {
			return nil, &ShapeError{pointer(path, k), fmt.Sprintf("%q is not a member of a rule; known are %s", k, strings.Join(ruleMembers(), ", "))}
		}
	}
	r := &rule{}
	var err error
	if r.kind, err = stringMember(m, "type", path); err != nil {
		return nil, err
	}
	if r.message, err = stringMember(m, "message", path); err != nil {
		return nil, err
	}
	if r.condition, err = parseCondition(m["condition"], pointer(path, "condition")); err != nil {
		return nil, err
	}
	if err := r.parseKind(m, path); err != nil {
		return nil, err
	}
	return r, nil
}

// stringMember gives a member that has to be a string, "" where it is absent.
func stringMember(m map[string]any, name, path string) (string, error) {
	v, ok := m[name]
	if !ok {
		return "", nil
	}
	s, ok := v.(string)
	if !ok {
		return "", &ShapeError{pointer(path, name), fmt.Sprintf("%q is a string, this is %s", name, KindOf(v))}
	}
	return s, nil
}

// needed names the member without which a rule of a type means nothing.
func needed(kind string) string {
	return map[string]string{"contains": "value", "regex": "pattern", "schema": "schema"}[kind]
}

// parseKind reads the members that belong to the type of a rule.
func (r *rule) parseKind(m map[string]any, path string) error {
	if member := needed(r.kind); member != "" {
		if _, ok := m[member]; !ok {
			return &ShapeError{path, fmt.Sprintf("a %q rule needs %q", r.kind, member)}
		}
	}
	var err error
	switch r.kind {
	case "contains":
		r.value, err = stringMember(m, "value", path)
		return err
	case "regex":
		return r.parseRegex(m, path)
	case "length":
		return r.parseLength(m, path)
	case "schema":
		if r.schema, err = compileSchema(m["schema"]); err != nil {
			return &SchemaError{pointer(path, "schema"), err}
		}
		return nil
	}
	return &ShapeError{pointer(path, "type"), fmt.Sprintf("unsupported validation rule type: %s", r.kind)}
}

func (r *rule) parseRegex(m map[string]any, path string) error {
	source, err := stringMember(m, "pattern", path)
	if err != nil {
		return err
	}
	flags, err := stringMember(m, "flags", path)
	if err != nil {
		return err
	}
	if r.pattern, err = compilePattern(source, flags); err != nil {
		return &ShapeError{pointer(path, "pattern"), err.Error()}
	}
	return nil
}

func (r *rule) parseLength(m map[string]any, path string) error {
	var err error
	if r.min, err = numberMember(m, "min", path); err != nil {
		return err
	}
	if r.max, err = numberMember(m, "max", path); err != nil {
		return err
	}
	if r.min != nil && r.max != nil {
		if order, _ := r.min.compare(*r.max); order > 0 {
			return &ShapeError{pointer(path, "min"), `"min" is greater than "max", no output can pass`}
		}
	}
	return nil
}

// numberMember gives a member that has to be a number, nil where it is absent.
func numberMember(m map[string]any, name, path string) (*number, error) {
	v, ok := m[name]
	if !ok {
		return nil, nil
	}
	n, ok := toNumber(v)
	if !ok {
		return nil, &ShapeError{pointer(path, name), fmt.Sprintf("%q is a number, this is %s", name, KindOf(v))}
	}
	return &n, nil
}

// Messages gives the message of every rule in the order of the file, the default text where a rule has none: what a
// step is judged by, in words for the agent.
func (c *Criteria) Messages() []string {
	if c == nil || c.root == nil {
		return nil
	}
	return c.root.messages(nil)
}

func (r *rule) messages(list []string) []string {
	if combines(r.kind) {
		for _, child := range r.children {
			list = child.messages(list)
		}
		return list
	}
	return append(list, r.text())
}

// text is the message of a rule, or the default text, which clients know.
func (r *rule) text() string {
	switch {
	case r.message != "":
		return r.message
	case r.kind == "contains":
		return fmt.Sprintf(`Output must include "%s"`, r.value)
	case r.kind == "regex":
		return "Pattern mismatch: " + r.pattern.source
	case r.kind == "length" && r.min != nil && r.max != nil:
		return fmt.Sprintf("Output must have a length from %s to %s", r.min, r.max)
	case r.kind == "length" && r.max != nil:
		return textLong(r)
	case r.kind == "length" && r.min != nil:
		return textShort(r)
	case r.kind == "length":
		return "Output may have any length"
	}
	return "Output must satisfy the JSON Schema"
}
