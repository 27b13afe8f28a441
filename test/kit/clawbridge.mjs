#!/usr/bin/env node
// A stand-in for clawbridge (provider `command`, protocol `zene-host-v1`), written from what the real one was seen to do
// (test/recordings/clawbridge): spawns a Zene one-shot provider per turn and accepts or refuses its answer by the same rules, agreeing with
// every recorded answer but positional arrays and duplicate keys. Its idempotency keys equal the real ones. No dependencies.
//
//   node clawbridge.mjs [--timeout-s 180] [--retries 1] [--backoff-ms 300] [--agent a --channel c --session s --system text] --prompt TEXT -- COMMAND [ARG...]
//     -> one JSON line {status, body, attempts, request}; exit 0 when status is 200
//   import { respond, judge } from './clawbridge.mjs'
//     await respond({ command, args, env, prompt, agent, channel_id, session_id, system_prompt, timeoutS, retries, backoffMs })
//     judge({ stdout: Buffer, stderr: Buffer, code, signal }) -> { text } | { error, retry }
import { spawn } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { pathToFileURL } from 'node:url'

const PLACEHOLDERS = new Set(['plan completed (or explicit empty plan).', 'plan completed.', 'no changes were made.'])
const RETRY_WORDS = /placeholder text|suspicious success|zene host error TIMEOUT|timed out/
const URL_NAMESPACE = Buffer.from('6ba7b8119dad11d180b400c04fd430c8', 'hex')

function uuid5(name) {
  const h = createHash('sha1').update(URL_NAMESPACE).update(name, 'utf8').digest().subarray(0, 16)
  h[6] = (h[6] & 0x0f) | 0x50
  h[8] = (h[8] & 0x3f) | 0x80
  return h.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

const refuse = (error) => ({ error, retry: RETRY_WORDS.test(error) })
const optionalString = (v) => v === undefined || v === null || typeof v === 'string'
const loneSurrogate = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/

/** The result that clawbridge makes of one finished provider run. */
export function judge({ stdout, stderr, code, signal }) {
  if (code !== 0) return refuse(`provider exited with status ${code ?? signal}: ${stderr.toString('utf8').trim()}`)
  let text
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(stdout)
  } catch {
    return refuse('provider stdout is not valid UTF-8')
  }
  const line = text
    .split('\n')
    .map((l) => l.replace(/^[ \t\r]+|[ \t\r]+$/g, ''))
    .find((l) => l !== '')
  if (line === undefined) return refuse('provider returned an empty response')
  const bad = (why) => refuse(`cannot decode zene host response: ${why}; raw=${line}`)
  let r
  try {
    r = JSON.parse(line)
  } catch (e) {
    return bad(e.message)
  }
  if (r === null || typeof r !== 'object' || Array.isArray(r)) return bad('not an object')
  if (typeof r.ok !== 'boolean') return bad('ok must be a boolean')
  if (typeof r.text !== 'string' || loneSurrogate.test(r.text)) return bad('text must be a string')
  if (!optionalString(r.error_code) || !optionalString(r.error_message))
    return bad('error_code and error_message must be strings')
  let total = 0
  if (r.usage !== undefined && r.usage !== null) {
    if (typeof r.usage !== 'object' || Array.isArray(r.usage)) return bad('usage must be an object')
    const n = r.usage.total_tokens
    if (n !== undefined && n !== null) {
      const raw = /"total_tokens"\s*:\s*([^,}\s]+)/.exec(line)?.[1] ?? ''
      if (typeof n !== 'number' || !/^\d+$/.test(raw) || BigInt(raw) > 2n ** 64n - 1n)
        return bad('total_tokens must be an unsigned integer')
      total = n
    }
  }
  if (!r.ok)
    return refuse(`zene host error ${r.error_code ?? 'INTERNAL'}: ${r.error_message ?? 'zene host returned an error'}`)
  if (r.text.trim() === '') return refuse('zene host returned empty text')
  if (PLACEHOLDERS.has(r.text.trim().toLowerCase())) return refuse('zene host returned placeholder text')
  if (total === 0) return refuse('suspicious success: no tokens were used')
  return { text: r.text }
}

/** One provider run: waits for its exit and for the end of stdout and stderr, as the real one does; never signals it. */
function attempt({ command, args, env, request, timeoutS }) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'pipe'] })
    const out = []
    const err = []
    const timer = setTimeout(() => {
      child.stdout.destroy()
      child.stderr.destroy()
      child.unref()
      resolve(refuse(`command provider timed out after ${timeoutS}s`))
    }, timeoutS * 1000)
    const finish = (v) => {
      clearTimeout(timer)
      resolve(v)
    }
    child.on('error', (e) => finish(refuse(`failed to spawn command provider: ${e.message}`)))
    child.stdin.on('error', (e) => finish(refuse(`failed to write provider stdin: ${e.message}`)))
    child.stdout.on('data', (b) => out.push(b))
    child.stderr.on('data', (b) => err.push(b))
    child.on('close', (code, signal) =>
      finish(judge({ stdout: Buffer.concat(out), stderr: Buffer.concat(err), code, signal })),
    )
    child.stdin.end(`${JSON.stringify(request)}\n`)
  })
}

/** POST /v1/respond of clawbridge, as a function: {status, body, attempts, requests}. */
export async function respond(o) {
  const {
    agent = 'main',
    channel_id = 'c',
    session_id = 's',
    prompt,
    system_prompt,
    timeoutS = 180,
    retries = 1,
    backoffMs = 300,
    env = process.env,
  } = o
  const full = system_prompt?.trim()
    ? `System instruction:\n${system_prompt.trim()}\n\nUser message:\n${prompt}`
    : prompt
  const key = uuid5(`${session_id}|${channel_id}|${full}`)
  const requests = []
  for (let n = 0; ; n++) {
    const request = {
      agent,
      channel_id,
      idempotency_key: key,
      prompt: full,
      protocol_version: 1,
      request_id: randomUUID(),
      session_id,
      timeout_ms: Math.max(1000, Math.floor(timeoutS * 900)),
      type: 'run',
    }
    requests.push(request)
    const r = await attempt({ command: o.command, args: o.args ?? [], env, request, timeoutS })
    if ('text' in r) return { status: 200, body: { text: r.text }, attempts: n + 1, requests }
    if (!r.retry || n >= retries) return { status: 502, body: { error: r.error }, attempts: n + 1, requests }
    await new Promise((f) => setTimeout(f, backoffMs * 2 ** n))
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const cut = process.argv.indexOf('--')
  const own = process.argv.slice(2, cut)
  const opt = (name, fallback) => (own.includes(name) ? own[own.indexOf(name) + 1] : fallback)
  const [command, ...args] = process.argv.slice(cut + 1)
  if (cut < 0 || !command || opt('--prompt') === undefined) {
    process.stderr.write('usage: clawbridge.mjs [options] --prompt TEXT -- COMMAND [ARG...]\n')
    process.exit(2)
  }
  const r = await respond({
    command,
    args,
    prompt: opt('--prompt'),
    agent: opt('--agent'),
    channel_id: opt('--channel'),
    session_id: opt('--session'),
    system_prompt: opt('--system'),
    timeoutS: Number(opt('--timeout-s', 180)),
    retries: Number(opt('--retries', 1)),
    backoffMs: Number(opt('--backoff-ms', 300)),
  })
  process.stdout.write(`${JSON.stringify(r)}\n`)
  process.exitCode = r.status === 200 ? 0 : 1
}
