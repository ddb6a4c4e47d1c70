// Package adversary plays a randomised adversary against the built program: servers and clients that draw from
// everything that can be said, beside one honest client and one honest server between which every call is checked
// against what must come of it. What is drawn depends on a seed alone, which is printed; in which order things then
// meet is up to the machine.
//
// go test plays a few seeds for seconds, make adversary others for as long as DURATION says.
package adversary
