#!/usr/bin/env node
/**
 * A robust agent of zot and of OpenHarness, on stdio: `hostile-agents.mjs PROTOCOL [BEHAVIOUR]`. With a behaviour it is
 * naive about that one: it ends without a word, or never.
 */
import { StringDecoder } from 'node:string_decoder'

const [protocol, flaw = ''] = process.argv.slice(2)
const is = (name) => flaw === name
const MIB = 1024 * 1024

/** The sign in a text that the client does what the agent cannot handle. */
const TRIGGERS = {
  'answers-well': () => true,
  'garbage-line': (text) => text.includes('{{{'),
  'lines-that-are-no-objects': (text) => text.startsWith('null'),
  'raw-nul': (text) => text.includes('\0'),
  'blank-lines-and-crlf': (text) => text.includes('\r'),
  'byte-order-mark': (text) => text.startsWith('\ufeff'),
  'nul-in-text': (text) => text.includes('\\u0000'),
  'invalid-utf-8': (text) => text.includes('\ufffd'),
  'split-characters': (text) => text.includes('\ufffd'),
  'raw-separators': (text) => text.includes('\u2028'),
  'lone-surrogate': (text) => text.includes('\\ud83d'),
  'prompt-of-1-mib': (text) => text.length > MIB / 4,
  'odd-numbers-and-keys': (text) => text.includes('__proto__'),
  'deep-json': (text) => text.includes('[[[['),
  'duplicate-keys': (text) => /^\{"(\w+)":("[^"]*"),"\1":\2/.test(text),
  'unknown-messages-and-fields': (text) => text.includes('x-new'),
  'ids-are-0': (text) => /"(?:request_)?id":0/.test(text),
  'ids-are-empty': (text) => /"(?:request_)?id":""/.test(text),
  'ids-are-equal': (text) => text.includes('same'),
  'cancels-nothing': (text) => text.includes('abort'),
}
const forever = () => setInterval(() => {}, 1e6)
const send = (frame) => process.stdout.write(`${JSON.stringify(frame)}\n`)

function read(text) {
  if (TRIGGERS[flaw]?.(text)) process.exit(1)
  try {
    const value = JSON.parse(text.replace(/^\ufeff/, ''))
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

function zot(line) {
  if (line.trim() === '') return
  const { id, type: command, message } = read(line) ?? {}
  const head = { type: 'response', ...(typeof id === 'string' && id !== '' && { id }), command: String(command ?? '') }
  if (command === 'abort') return send({ ...head, success: true })
  if (command !== 'prompt' || typeof message !== 'string' || typeof (id ?? '') !== 'string')
    return send({ ...head, success: false, error: 'not understood' })
  send({ ...head, success: true })
  send({ type: 'text_delta', delta: 'ok' })
  send({ type: 'done' })
}

function openharness(body) {
  const asked = read(body)
  const good = { status: 'success', action_directives: [{ action_type: 'render_message', payload: { text: 'ok' } }] }
  const refused = { status: 'error', error: { code: 'invalid_request', message: 'not understood' } }
  send({ protocol_version: '1.0.0', response: asked?.request ? good : refused })
  process.exitCode = asked?.request ? 0 : 1
}

const decoder = new StringDecoder('utf8')
let all = ''
let rest = ''
process.stdin.on('data', (chunk) => {
  const text = is('split-characters') ? chunk.toString() : decoder.write(chunk)
  all += text
  if (protocol === 'openharness') return
  const lines = (rest + text).split('\n')
  rest = lines.pop()
  for (const line of lines) zot(line)
})
process.stdin.on('end', () => {
  const isWhole = rest.endsWith('}')
  if (is('says-nothing') && all === '') forever()
  if (is('no-newline-at-the-end') && isWhole) forever()
  if (is('half-a-line-then-ends') && !isWhole && all.startsWith('{') && !all.trimEnd().endsWith('}')) forever()
  if (protocol === 'openharness') openharness(all)
  else zot(rest)
})
