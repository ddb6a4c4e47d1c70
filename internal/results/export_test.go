package results

// SizeOf is how many bytes it takes to read an image.
var SizeOf = sizeOf
