#!/usr/bin/env node
// An agent of ACP that keeps its sessions in the folder that its argument names, copies and lists them. It answers a prompt
// with what it was told in the session before.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onLine } from './lines.mjs'

const [folder] = process.argv.slice(2)
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const file = (id) => join(folder, `${id}.json`)
const read = (id) => JSON.parse(readFileSync(file(id), 'utf8'))
const write = (id, known) => writeFileSync(file(id), JSON.stringify(known))
const made = (known) => {
  const sessionId = `own-${readdirSync(folder).length + 1}`
  write(sessionId, known)
  return { sessionId }
}

const METHODS = {
  initialize: () => ({
    protocolVersion: 1,
    agentCapabilities: { sessionCapabilities: { resume: {}, list: {}, fork: {} } },
  }),
  'session/new': () => made([]),
  'session/resume': ({ sessionId }) => existsSync(file(sessionId)) && {},
  'session/fork': ({ sessionId }) => existsSync(file(sessionId)) && made(read(sessionId)),
  'session/list': ({ cursor }) => ({
    sessions: readdirSync(folder)
      .filter((name) => cursor === undefined || name > cursor)
      .map((name) => ({ sessionId: name.replace('.json', ''), cwd: '/work' })),
  }),
  'session/prompt': ({ sessionId, prompt: [{ text }] }) => {
    const known = read(sessionId)
    write(sessionId, [...known, text])
    const content = { type: 'text', text: JSON.stringify({ known, id: sessionId }) }
    say({ method: 'session/update', params: { sessionId, update: { sessionUpdate: 'agent_message_chunk', content } } })
    return { stopReason: 'end_turn' }
  },
}

onLine((line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const result = METHODS[method]?.(params)
  say(result ? { id, result } : { id, error: { code: -32002, message: 'There is no such session.' } })
})
