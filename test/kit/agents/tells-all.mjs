#!/usr/bin/env node
// Tells everything that it was started with, on standard error and as its error, and fails. The first argument is the
// protocol; the second a file that the names of its variables are written to.
import { writeFileSync } from 'node:fs'

const [protocol, file] = process.argv.slice(2)
const all = JSON.stringify(process.env)
writeFileSync(file, JSON.stringify(Object.keys(process.env).sort()))
process.stderr.write(
  `${Object.entries(process.env)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')}\n`,
)
if (protocol === 'agentproc') process.stdout.write(`AGENT_ERROR:${JSON.stringify(all)}\n`)
else process.stdout.write(`no JSON: ${all}\n`)
process.exitCode = 1
