package commandsrv

// FaultOf is faultOf.
var FaultOf = faultOf

// TurnState is stateOf.
var TurnState = stateOf

// Insist is insist.
var Insist = insist
