// Package calls keeps a record of what clients asked of servers: a [Log] has the requests that are under way and the
// last of those that have ended, with when, who, where, how long, how much and what became of each. What else there is
// in a process that wants to know reads it ([Log.Calls], [Log.Call]) or follows it ([Log.Follow]); another process of
// the same user does so over the status socket, where a Log answers as an http.Handler:
//
//	GET /calls?failed&server=S&tool=T&since=TIME&limit=N   {"calls": […]}, the oldest first; also toolbox, user, session
//	GET /calls?follow&…                                    a line for each call that ends: {"call": {…}}, or {"missed": N}
//	GET /calls/ID                                          one call; 404 if it is not kept any more
//
// A Log never holds up a call: it keeps nothing for those who follow it, and who is too slow learns how many calls are
// missed. It is bounded in calls and in bytes. How much of a call is kept says its [Mode]; secrets are masked by
// whoever hands a call over (package mask).
package calls
