// Runs the program of the conformance suite as often as it is told to, one run after another, in one process: most of
// what a run would take in a process of its own is the start of the suite.
//
// node suite.mjs PROGRAM reads runs, lines of {"args": […], "env": {…}}, and answers each with a line that has the exit
// code. What the suite prints goes to stderr.
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

const [, program] = process.argv.splice(1, 2)
const exit = process.exit
const over = new Error('this run is over')
for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.on(event, (err) => {
    if (err === over) return
    console.error(err)
    exit(70)
  })
}
process.stdout.write = process.stderr.write.bind(process.stderr)

const environment = { ...process.env }
let runs = 0

// run gives the exit code of a run. Each has the program's modules anew; those that the program depends on stay.
function run ({ args, env }) {
  process.env = { ...environment, ...env }
  process.argv = [process.execPath, program, ...args]
  return new Promise((resolve, reject) => {
    process.exit = (code = 0) => {
      resolve(code)
      throw over // the program expects that nothing goes on after it
    }
    import(`${pathToFileURL(program)}?${++runs}`).catch((err) => { if (err !== over) reject(err) })
  })
}

for await (const line of createInterface({ input: process.stdin })) {
  writeSync(1, `${await run(JSON.parse(line))}\n`)
}
exit(0)
