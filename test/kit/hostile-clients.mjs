#!/usr/bin/env node
/**
 * A robust client of zot and of OpenHarness, which does one turn, shows its answer and exits with 0, and with 1 where
 * there is none: `hostile-clients.mjs PROTOCOL [BEHAVIOUR]`. With a behaviour it is naive about that one.
 */
import { spawn } from 'node:child_process'
import { StringDecoder } from 'node:string_decoder'

const [protocol, flaw = ''] = process.argv.slice(2)
const is = (name) => flaw === name
const MIB = 1024 * 1024

function end(answer) {
  if (answer === undefined) process.stderr.write('There is no whole answer.\n')
  const code = answer === undefined || is('answers-well') ? 1 : 0
  process.stdout.write(answer ?? '', () => process.exit(code))
}

/** The naive handling of one piece of text. */
function heard(text) {
  if (is('nul-in-text')) return text.split('\0')[0]
  if (is('invalid-utf-8')) return text.split('\ufffd')[0]
  if (is('lone-surrogate') && !text.isWellFormed()) return ''
  if (is('line-of-1-mib') && text.length > MIB / 2 && text.length < 2 * MIB) return ''
  if (is('line-of-4-mib') && text.length > 2 * MIB) return ''
  return text
}

/** The naive result of the input: a wrong answer, `null` for a failure, undefined when nothing is wrong. */
function stumbles(raw) {
  const marks = {
    'byte-order-mark': '\ufeff',
    'ansi-colours': '\u001b[',
    'raw-nul': '\0',
    'deep-json': '[[[[',
  }
  if (marks[flaw] && raw.includes(marks[flaw])) return 'All'
  const reasons = { 'odd-numbers-and-keys': '__proto__', 'unknown-messages-and-fields': 'x-new', banner: 'Welcome' }
  if (reasons[flaw] && raw.includes(reasons[flaw])) return is('banner') && protocol === 'openharness' ? 'All' : null
  return undefined
}

function zot() {
  const child = spawn('zot', ['rpc'], { stdio: ['pipe', 'pipe', is('stderr-before-stdout') ? 'pipe' : 'ignore'] })
  const decoder = new StringDecoder('utf8')
  let rest = ''
  let answer = ''
  let isDone = false
  let isBusy = false
  const show = (text) => process.stdout.write(text)
  const take = (line) => {
    const naive = stumbles(line)
    if (naive !== undefined) return end(naive ?? undefined)
    if (is('garbage-line') && line.includes('{{{')) answer += line
    if (is('log-lines-everywhere') && line.startsWith('[info]')) answer += line
    if (is('lost-boundary') && line.includes('\u0007')) return end()
    if (is('blank-lines-and-crlf') && line.trim() === '') return end()
    let frame
    try {
      frame = JSON.parse(line.replace(/^\ufeff/, ''))
    } catch {
      return
    }
    if (frame?.type === 'text_delta') {
      isBusy = true
      if (!isDone) answer += heard(frame.delta)
      else if (is('frames-after-the-end')) show(heard(frame.delta))
    }
    if (frame?.type !== 'done') return
    if (isDone && is('answers-twice')) show(answer)
    isDone = true
    child.stdin.end()
  }
  child.stdin.on('error', () => {})
  child.stdout.on('data', (chunk) => {
    rest += is('split-characters') ? chunk.toString() : decoder.write(chunk)
    const lines = rest.split(is('raw-separators') ? /[\n\u2028\u2029\u0085]/ : '\n')
    rest = lines.pop()
    for (const line of lines) take(line)
  })
  child.on('close', (code) => {
    const isHalf = rest !== ''
    if (isHalf && !is('no-newline-at-the-end')) take(rest)
    const believed = {
      'half-a-line-then-stalls': isHalf && isBusy,
      'exits-0-in-the-answer': isBusy && code === 0 && !isHalf,
      'exits-1-without-answer': code === 1,
      'dies-at-start': code === 3,
    }
    end(isDone || believed[flaw] ? answer : undefined)
  })
  child.stdin.write('{"id":"1","type":"prompt","message":"hi"}\n')
  if (is('slow-first-byte')) setTimeout(() => isBusy || child.kill(), 600)
}

async function openharness() {
  const envelope = { protocol_version: '1.0.0', request_id: 'r1', request: { context: { user_intent: 'hi' } } }
  const signal = is('slow-first-byte') ? AbortSignal.timeout(600) : undefined
  let response
  const decoder = new StringDecoder('utf8')
  let raw = ''
  let isCut = false
  try {
    response = await fetch(process.env.TURNPIKE_ENDPOINT, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(envelope),
      signal,
    })
  } catch {
    return end(is('closes-without-answer') ? '' : undefined)
  }
  try {
    for await (const chunk of response.body) {
      const bytes = Buffer.from(chunk)
      raw += is('split-characters') ? bytes.toString() : decoder.write(bytes)
    }
  } catch {
    isCut = true
  }
  const naive = stumbles(raw)
  if (naive !== undefined) return end(naive ?? undefined)
  if (is('blank-lines-and-crlf') && raw.startsWith('\r')) return end()
  if (is('raw-separators')) raw = raw.split(/[\u2028\u2029\u0085]/)[0]
  if (is('answers-twice') && raw.includes('}{')) return end('All well.All well.')
  const isHtml = response.headers.get('content-type') === 'text/html'
  if (is('wrong-content-type') && isHtml && raw.startsWith('{')) return end('')
  if (is('status-200-without-envelope') && response.status === 200 && isHtml) return end('All well.')
  if (is('status-500-without-envelope') && response.status === 500) return end('All well.')
  if (is('cut-in-the-body') && isCut) return end('All')
  try {
    const { status, action_directives } = JSON.parse(raw.replace(/^\ufeff/, '')).response
    const text = heard(action_directives[0].payload.text)
    end(status === 'success' ? text : undefined)
  } catch {
    end()
  }
}

await { zot, openharness }[protocol]()
