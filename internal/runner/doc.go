// Package runner knows the programs that fetch a package and then run it: npx, uvx, docker run and their like.
//
// A program that is started through one says nothing for as long as its package is being fetched, which may be minutes.
// The package tells such a program by its command line ([Of]), says whether it is fetching at this moment
// ([Watch.Installing]), by its caches and by what it writes, and puts a cache right that an end in the middle of it has
// left torn ([Watch.Mend], [Torn]).
package runner
