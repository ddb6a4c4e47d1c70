// Packs the npm packages of a release into dist/npm: node release/npm/pack.js dist
//
// goreleaser's lists in dist say what was built. One package has the program for each system; the package that people install
// has them as optional dependencies, of which npm takes the one that fits.
'use strict'

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

const dist = process.argv[2]
if (!dist) {
  console.error('usage: node release/npm/pack.js DIST')
  process.exit(2)
}
const folder = path.join(dist, 'npm')
const read = (name) => JSON.parse(fs.readFileSync(path.join(dist, name), 'utf8'))
const { version } = read('metadata.json')
const root = path.join(__dirname, '../..')
const common = {
  version,
  license: 'MIT',
  homepage: 'https://github.com/mcp-workbench/workbench',
  repository: 'github:mcp-workbench/workbench'
}
const systems = { linux: 'linux', darwin: 'darwin', windows: 'win32' }
const processors = { amd64: 'x64', arm64: 'arm64' }

function pack (manifest, files) {
  const made = fs.mkdtempSync(path.join(folder, 'npm-'))
  try {
    fs.writeFileSync(path.join(made, 'package.json'), JSON.stringify({ ...manifest, ...common }, null, 2))
    for (const [name, source, mode] of files) {
      fs.mkdirSync(path.dirname(path.join(made, name)), { recursive: true })
      fs.copyFileSync(source, path.join(made, name))
      fs.chmodSync(path.join(made, name), mode)
    }
    execFileSync('npm', ['pack', '--silent', '--pack-destination', path.resolve(folder)], { cwd: made, shell: process.platform === 'win32' })
  } finally {
    fs.rmSync(made, { recursive: true })
  }
}

fs.mkdirSync(folder, { recursive: true })
const optionalDependencies = {}
for (const built of read('artifacts.json')) {
  if (built.type !== 'Binary') continue
  const [os, cpu] = [systems[built.goos], processors[built.goarch]]
  const name = `@mcp-workbench/workbench-${os}-${cpu}`
  optionalDependencies[name] = version
  const program = `bin/workbench${os === 'win32' ? '.exe' : ''}`
  pack({ name, description: `The program of @mcp-workbench/workbench for ${os} on ${cpu}`, os: [os], cpu: [cpu], files: ['bin'] },
    [[program, built.path, 0o755], ['LICENSE', path.join(root, 'LICENSE'), 0o644]])
}
pack({
  name: '@mcp-workbench/workbench',
  description: 'One entry in an MCP client, any number of MCP servers behind it',
  mcpName: 'io.github.mcp-workbench/workbench',
  bin: { workbench: 'workbench.js' },
  files: ['workbench.js'],
  engines: { node: '>=18' },
  optionalDependencies
}, [
  ['workbench.js', path.join(__dirname, 'workbench.js'), 0o755],
  ['README.md', path.join(root, 'README.md'), 0o644],
  ['LICENSE', path.join(root, 'LICENSE'), 0o644]
])
