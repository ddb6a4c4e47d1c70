package commandsrv

// FaultOf is faultOf.
var FaultOf = faultOf
