package wiretest

var MarkFor = markFor
