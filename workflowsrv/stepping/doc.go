// Package stepping leads through a workflow: given what is done and the
// context variables, [Next] says what comes next. It keeps nothing between two
// calls; a loop's place travels with the caller, sealed in [Answer.State].
//
// The rule for ordinary steps is that of the published workflow API: the
// first step in the order of the file that is not completed and whose
// runCondition holds. A step that was passed over becomes eligible again when
// the context changes.
//
// A workflow is complete only when no step remains that an absent variable
// could still make eligible. While there is one, the answer is not complete,
// has no step, and names the variables ([Answer.Missing]).
package stepping
