package httpfront

// LoggedRefusals is how many requests that are turned away are logged each minute.
const LoggedRefusals = loggedRefusals
