package cli

import (
	"regexp"

	"github.com/mcp-workbench/workbench/internal/shellword"
)

// Advice gives a text for a person with the configuration that --config names in each command that reads one: the person
// runs the commands as they are written, and without it they would be about the configuration of the user.
func (e *Environment) Advice(text string) string {
	if e.ConfigPath == "" {
		return text
	}
	return With(text, e.ConfigPath)
}

// With gives a text with a configuration in each command that reads one.
func With(text, config string) string {
	words := shellword.Word(config)
	return configured().ReplaceAllStringFunc(text, func(found string) string {
		return "workbench --config " + words + found[len("workbench"):]
	})
}

// configured finds the commands that read a configuration, or that write it into the files of clients.
func configured() *regexp.Regexp {
	return regexp.MustCompile(`\bworkbench (add|call|check|commands|connect|conversations|disable|doctor|enable|find|import|index|init|lock|login|logout|` +
		`move|prompt|prompts|read|record|remove|resources|runs|secret|serve|token|tools|top|ui|undo|workflow)\b`)
}

// Warn tells on standard error what a command goes on in spite of.
func (e *Environment) Warn(text string) { e.Streams.Warn(e.Advice(text)) }

// Fault tells on standard error what a command could not do, before it goes on with the rest.
func (e *Environment) Fault(text string) { e.Streams.Fault(e.Advice(text)) }
