#!/usr/bin/env node
// Runs the program that npm installed for this machine, in the place of this process's input and output.
'use strict'

const { spawn } = require('node:child_process')
const { constants } = require('node:os')

const name = `@mcp-workbench/workbench-${process.platform}-${process.arch}`
let program
try {
  program = require.resolve(`${name}/bin/workbench${process.platform === 'win32' ? '.exe' : ''}`)
} catch {
  console.error(`workbench: error: the package ${name} is not installed`)
  console.error('workbench: hint: install again without --omit=optional; if there is no such package for this machine, ' +
    'build workbench from its source with Go')
  process.exit(1)
}

const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' })
// Signals that are sent to this process alone are passed on. Those of a terminal are sent to both, and on Windows, where
// there are no others, passing one on would end the program by force.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => process.platform === 'win32' || child.kill(signal))
}
child.on('error', (err) => {
  console.error(`workbench: error: ${program} cannot be started: ${err.message}`)
  process.exit(1)
})
child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
