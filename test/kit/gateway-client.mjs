#!/usr/bin/env node
/**
 * A gateway as a client under test: `gateway-client.mjs URL AGENT program|server FOLDER`. Where its agent is told in a
 * file of the folder, for the program that the gateway starts, or for the relay whose address it calls.
 */
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [url, agent, kind, folder] = process.argv.slice(2)
const { TURNPIKE_COMMAND = '', TURNPIKE_ENDPOINT = '' } = process.env
const session = `s-${process.pid}-${Date.now()}`

writeFileSync(join(folder, `${session}.part`), kind === 'server' ? TURNPIKE_ENDPOINT : TURNPIKE_COMMAND)
renameSync(join(folder, `${session}.part`), join(folder, agent))
async function post(request) {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ ...request, session: { id: session } })
  return (await fetch(`${url}/v1/turns/${agent}`, { method: 'POST', headers, body })).json()
}

let answer = await post({ input: 'hi' })
while (answer.outcome === 'parked') {
  const [{ ask, question }] = answer.asks
  const { id: option } = question.options.find(({ kind }) => kind === 'deny')
  const target = { continuation: answer.continuation }
  answer = await post({ type: 'ask-reply', target, ask, reply: { kind: 'approval', option } })
}
const { outcome, text = '', fault } = answer
if (outcome !== 'completed') process.stderr.write(`${JSON.stringify(fault)}\n`)
process.stdout.write(text, () => process.exit(outcome === 'completed' ? 0 : 1))
