package workflowsrv

// toolTable is in the order in which the tools are listed.
func toolTable() []tool {
	return []tool{
		{
			name: "workflow_list", title: "List workflows", short: "Lists all available workflows",
			description: "Lists the workflows that can be followed here, with what each is for. " +
				"Look here first when a task has several steps: a tested workflow beats an improvised plan. " +
				"Each entry says where it comes from and what it replaces; broken files are listed with their faults. " +
				"query narrows the list to those with words, tag to those with a tag.",
			input: emptyInput, output: listOutput, example: listExample,
			run:  runList,
			keep: searchList, more: []string{"query", "tag"}, keptInput: listInput,
		},
		{
			name: "workflow_get", title: "Get a workflow", short: "Retrieves a specific workflow by ID",
			description: "Returns one workflow. mode full (the default) is the whole definition, metadata leaves the steps out, " +
				"preview adds the first step. To follow a workflow, call workflow_next and take the steps one at a time.",
			input: getInput, output: getOutput, bareOutput: `{"$ref":"workflow.schema.json"}`, example: getExample,
			arguments: []string{"id", "workflowId", "mode"},
			run:       runGet,
		},
		{
			name: "workflow_next", title: "Next step", short: "Gets the next step guidance based on workflow state",
			description: "Gives the next step of a run that workflow_start began: call it with the run, the step that is done, and output or notes " +
				"that report the result; context takes only variables that changed. With only the run it says where the run is. " +
				"Output is checked before the next step is given; some steps wait for a person. " +
				"Without a run, nothing is kept: do what guidance.prompt says, then call again with workflowId, the step's id added to " +
				"completedSteps, the whole context, and the state of the last answer if it had one; ask the user first where confirmation says so. " +
				"While isComplete is false and step is null, the answer names the context variables to set.",
			input: nextInput, output: nextOutput, example: nextExample,
			arguments: []string{"workflowId", "id", "completedSteps", "currentStep", "context", "state"},
			run:       runNext,
			keep:      keepNext, more: []string{"run", "step", "output", "artifacts", "notes", "code"}, changes: true,
			keptInput: keptNextInput, keptOutput: keptNextOutput,
		},
		{
			name: "workflow_validate", title: "Validate an output", short: "Validates step output against workflow requirements",
			description: "Checks what you produced in a step against the criteria of that step, before you go on. " +
				"When it is not valid, issues say what is wrong, suggestions what to change, and explain goes rule by rule.",
			input: validateInput, output: validateOutput, example: validateExample,
			arguments: []string{"workflowId", "id", "stepId", "output", "context"},
			run:       runValidate,
		},
		{
			name: "workflow_validate_json", title: "Check a definition", short: "Checks a workflow definition",
			description: "Checks a workflow definition that you have written, in JSON or YAML, and names every fault with line and column. " +
				"workflow_get_schema returns the schema and an example.",
			input: validateJSONInput, output: validateOutput,
			arguments: []string{"workflowJson"},
			run:       runValidateJSON,
		},
		{
			name: "workflow_get_schema", title: "Schema of workflows", short: "Returns the JSON Schema of workflow definitions",
			description: "Returns the JSON Schema of workflow definitions and a small example, for writing one of your own.",
			input:       emptyInput, output: schemaOutput,
			run: runGetSchema,
		},
		{
			name: "workflow_start", title: "Start a workflow",
			description: "Begins a run of a workflow, which is kept: it survives the end of this conversation. Returns the run and its first step. " +
				"Say in goal what it is for, so that workflow_resume finds it.",
			keptInput: startInput, keptOutput: runOutput, changes: true,
			keep: keepStart, more: []string{"workflowId", "id", "goal", "context"},
		},
		{
			name: "workflow_resume", title: "Resume a run",
			description: "Finds a run of a workflow, also of an earlier conversation, by words of its goal, notes, workflow, repository or branch, " +
				"and returns what was done and the current step. If several fit, they are listed.",
			keptInput: resumeInput, keptOutput: resumeOutput, changes: true,
			keep: keepResume, more: []string{"query", "run"},
		},
		{
			name: "workflow_run", title: "Manage a run",
			description: "Goes back in a run, branches it or ends it, by action. checkpoint gives its present place a name; rewind goes back to a checkpoint or an event, and what came after stays in the record; " +
				"fork begins another run from there; abandon gives the run up; rebase uses the present file of the workflow.",
			keptInput: manageInput, keptOutput: runOutput, changes: true,
			keep: keepManage, more: []string{"run", "action", "name", "to", "reason"},
		},
	}
}
