package openfile

// PutNewWith is PutNew on a file system that answers the wish for a link in this way.
var PutNewWith = putNew
