// Package stepping leads through a workflow: given what is done and the context variables, [Next] says what comes next.
// It keeps nothing between two calls; a loop's place travels with the caller, sealed in [Answer.State].
//
// The rule for ordinary steps is that of the published workflow API: the first step in the order of the file that is
// not completed and whose runCondition holds. Where a variable is absent, the order of the file is kept beyond that
// API: it is asked for at the step, if whoever did the steps so far can know it, and waits otherwise until a later step
// has spoken of it ([Answer.Waiting]). A step that comes late is warned of.
//
// A workflow is complete only when no step remains that an absent variable could still make eligible. While there is
// one, the answer is not complete, has no step, and names the variables ([Answer.Missing]).
package stepping
