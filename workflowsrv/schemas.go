package workflowsrv

// The schemas and examples of the tools. Those of the first four follow the published workflow API; ids of the later
// formats may hold '_' and '.'.

const emptyInput = `{"type":"object","properties":{},"required":[],"additionalProperties":false}`

const listOutput = `{"type":"object","properties":{` +
	`"workflows":{"type":"array","items":{"type":"object","properties":{` +
	`"id":{"type":"string"},"name":{"type":"string"},"description":{"type":"string"},"category":{"type":"string"},"version":{"type":"string"},` +
	`"tags":{"type":"array","items":{"type":"string"}},` +
	`"origin":{"type":"string","enum":["embedded","user","project","path","config","git"]},` +
	`"shadows":{"type":"array","items":{"type":"object","properties":{"origin":{"type":"string"},"file":{"type":"string"}},"required":["origin","file"]}},` +
	`"warnings":{"type":"array","items":{"type":"string"}}},` +
	`"required":["id","name","description","category","version"]}},` +
	`"invalid":{"type":"array","items":{"type":"object","properties":{"origin":{"type":"string"},"file":{"type":"string"},"id":{"type":"string"},` +
	`"reasons":{"type":"array","items":{"type":"string"}}},"required":["origin","file","reasons"]}},` +
	`"unreadable":{"type":"array","items":{"type":"object","properties":{"origin":{"type":"string"},"directory":{"type":"string"},"reason":{"type":"string"}},` +
	`"required":["origin","directory","reason"]}}},` +
	`"required":["workflows"]}`

const listExample = `{"request":{"method":"workflow_list","params":{}},"response":{"workflows":[{"id":"ai-task-implementation","name":"AI Task Prompt Workflow",` +
	`"description":"Guides through task understanding → planning → implementation → verification","category":"development","version":"1.0.0"}]}}`

const idProperty = `"pattern":"^[a-zA-Z0-9._-]+$","minLength":3,"maxLength":64`

// seedIDProperty is what the published API says of ids, for the bare form.
const seedIDProperty = `"pattern":"^[a-z0-9-]+$","minLength":3,"maxLength":64`

const getInput = `{"type":"object","properties":{` +
	`"id":{"type":"string","description":"The workflow ID to retrieve",` + idProperty + `},` +
	`"mode":{"type":"string","enum":["full","metadata","preview"],"default":"full","description":"How much to return"}},` +
	`"required":["id"],"additionalProperties":false}`

const getOutput = `{"type":"object","properties":{` +
	`"id":{"type":"string"},"name":{"type":"string"},"description":{"type":"string"},"version":{"type":"string"},` +
	`"steps":{"type":"array","items":{"type":"object"}},"totalSteps":{"type":"integer"},"firstStep":{"type":["object","null"]}},` +
	`"required":["id","name","description","version"]}`

const getExample = `{"request":{"method":"workflow_get","params":{"id":"ai-task-implementation"}},"response":{"id":"ai-task-implementation","name":"AI Task Prompt Workflow",` +
	`"description":"Complete task implementation with verification","version":"1.0.0","preconditions":["Task description is clear and complete"],` +
	`"steps":[{"id":"understand","title":"Deep understanding of task and codebase","prompt":"Analyze the task description...","requireConfirmation":true}]}}`

const nextInput = `{"type":"object","properties":{` +
	`"workflowId":{"type":"string","description":"The workflow ID",` + idProperty + `},` +
	`"currentStep":{"type":"string","description":"Current step ID (optional)",` + idProperty + `},` +
	`"completedSteps":{"type":"array","description":"Array of completed step IDs","items":{"type":"string",` + idProperty + `},"uniqueItems":true},` +
	`"context":{"type":"object","description":"Additional context for step guidance: the variables that the conditions of the workflow test","additionalProperties":true},` +
	`"state":{"type":"string","description":"The state of the last answer, if it had one: the place in a loop"}},` +
	`"required":["workflowId","completedSteps"],"additionalProperties":false}`

const nextOutput = `{"type":"object","properties":{` +
	`"step":{"type":["object","null"]},` +
	`"guidance":{"type":"object","properties":{"prompt":{"type":"string"},"modelHint":{"type":"string"},"requiresConfirmation":{"type":"boolean"},` +
	`"validationCriteria":{"type":"array","items":{"type":"string"}}},"required":["prompt","requiresConfirmation","validationCriteria"]},` +
	`"isComplete":{"type":"boolean"},"warnings":{"type":"array","items":{"type":"string"}},` +
	`"missing":{"type":"array","items":{"type":"object","properties":{"variable":{"type":"string"},` +
	`"tests":{"type":"array","items":{"type":"object","properties":{"operator":{"type":"string"},"value":{}},"required":["operator"]}},` +
	`"steps":{"type":"array","items":{"type":"string"}}},"required":["variable","tests","steps"]}},` +
	`"loop":{"type":"object","properties":{"id":{"type":"string"},"title":{"type":"string"},"type":{"type":"string"},"iteration":{"type":"integer"},` +
	`"maxIterations":{"type":"integer"},"total":{"type":"integer"},"variables":{"type":"object"}},` +
	`"required":["id","title","type","iteration","maxIterations","variables"]},` +
	`"state":{"type":"string"}},` +
	`"required":["step","guidance","isComplete"]}`

const nextExample = `{"request":{"method":"workflow_next","params":{"workflowId":"ai-task-implementation","completedSteps":[],"context":{"taskId":"TASK-123"}}},` +
	`"response":{"step":{"id":"understand","title":"Understand the task","prompt":"Analyze the requirements..."},` +
	`"guidance":{"prompt":"PREP: ... IMPLEMENT: ... VERIFY: ..."},"isComplete":false}}`

const validateInput = `{"type":"object","properties":{` +
	`"workflowId":{"type":"string","description":"The workflow ID",` + idProperty + `},` +
	`"stepId":{"type":"string","description":"The step ID to validate",` + idProperty + `},` +
	`"output":{"type":"string","description":"The step output to validate","minLength":1},` +
	`"context":{"type":"object","description":"Variables for rules that apply under a condition","additionalProperties":true}},` +
	`"required":["workflowId","stepId","output"],"additionalProperties":false}`

const validateOutput = `{"type":"object","properties":{` +
	`"valid":{"type":"boolean"},"issues":{"type":"array","items":{"type":"string"}},"suggestions":{"type":"array","items":{"type":"string"}},` +
	`"warnings":{"type":"array","items":{"type":"string"}},"explain":{"type":"object"}},"required":["valid"]}`

const validateExample = `{"request":{"method":"workflow_validate","params":{"workflowId":"ai-task-implementation","stepId":"understand",` +
	`"output":"I have analyzed the requirements."}},"response":{"valid":true,"issues":[],"suggestions":[]}}`

const validateJSONInput = `{"type":"object","properties":{` +
	`"workflowJson":{"type":"string","description":"The definition, as JSON or YAML text","minLength":1}},` +
	`"required":["workflowJson"],"additionalProperties":false}`

const schemaOutput = `{"type":"object","properties":{"schema":{"type":"object"},"example":{"type":"object"}},"required":["schema"]}`

// The schemas of what runs add, which the bare form does not have.

const listInput = `{"type":"object","properties":{` +
	`"query":{"type":"string","description":"Words of the id, name, description, category or tags"},` +
	`"tag":{"type":"string","description":"A tag, or the category"}},"required":[],"additionalProperties":false}`

const startInput = `{"type":"object","properties":{` +
	`"workflowId":{"type":"string","description":"The workflow ID",` + idProperty + `},` +
	`"goal":{"type":"string","description":"What the run is for, in a sentence","maxLength":4096},` +
	`"context":{"type":"object","description":"Variables that the conditions of the workflow test, as far as you know them","additionalProperties":true}},` +
	`"required":["workflowId"],"additionalProperties":false}`

const manageInput = `{"type":"object","properties":{` +
	`"run":{"type":"string","description":"The run"},` +
	`"action":{"type":"string","enum":["checkpoint","rewind","fork","abandon","rebase"]},` +
	`"name":{"type":"string","description":"The checkpoint that is set, or gone back to"},` +
	`"to":{"type":"integer","minimum":1,"description":"The event to go back to, if no checkpoint is named"},` +
	`"reason":{"type":"string"}},"required":["run","action"],"additionalProperties":false}`

const resumeInput = `{"type":"object","properties":{` +
	`"query":{"type":"string","description":"Words of the goal, notes, workflow, repository or branch; leave it out to see all runs"},` +
	`"run":{"type":"string","description":"The run, if it is known"}},"required":[],"additionalProperties":false}`

const keptNextInput = `{"type":"object","properties":{` +
	`"run":{"type":"string","description":"The run, as workflow_start or workflow_resume gave it"},` +
	`"step":{"type":"string","description":"With run: the step that is done"},` +
	`"output":{"type":"string","description":"With run: what the step produced, which is checked"},` +
	`"notes":{"type":"string","description":"With run: the result of the step, for whoever continues later"},` +
	`"artifacts":{"type":"array","description":"With run: objects with a kind, if the step asks for them","items":{"type":"object"}},` +
	`"code":{"type":"string","description":"With run: a one-time code that the person gave you"},` +
	`"workflowId":{"type":"string","description":"Without run: the workflow ID",` + idProperty + `},` +
	`"currentStep":{"type":"string","description":"Without run: current step ID (optional)",` + idProperty + `},` +
	`"completedSteps":{"type":"array","description":"Without run: completed step IDs","items":{"type":"string"},"uniqueItems":true},` +
	`"context":{"type":"object","description":"The variables that the conditions of the workflow test; with run, only those that changed","additionalProperties":true},` +
	`"state":{"type":"string","description":"Without run: the state of the last answer, if it had one"}},` +
	`"required":[],"additionalProperties":false}`

const stepSummary = `"step":{"type":["object","null"]},"isComplete":{"type":"boolean"},"warnings":{"type":"array","items":{"type":"string"}},` +
	`"missing":{"type":"array","items":{"type":"object"}},"loop":{"type":"object"}`

const runMembers = stepSummary + `,"run":{"type":"string"},"workflowId":{"type":"string"},` +
	`"state":{"type":"string"},"modelHint":{"type":"string"},"blocked":{"type":"array","items":{"type":"object"}},` +
	`"done":{"type":"integer"},"event":{"type":"integer"},"prompt":{"type":"string"}`

const runOutput = `{"type":"object","properties":{` + runMembers + `},"required":["run","state","isComplete"]}`

const resumeOutput = `{"type":"object","properties":{` + runMembers + `,"runs":{"type":"array","items":{"type":"object"}}},"required":[]}`

const keptNextOutput = `{"type":"object","properties":{` + runMembers + `,"guidance":{"type":"object"}},"required":["isComplete"]}`
