// Package faults puts the built program between a client and a server that is sick, beside one that is well, and checks
// for each fault of internal/faultlist.yaml that what is wanted happens. Each case ends the same way: the well server
// answers as before, the program holds no more descriptors and processes than before, and no secret has left its place.
// The sick servers are modes of the command badchild.
package faults
