// A scripted, offline OpenAI-compatible server for protocol tests. No dependencies.
//
//   import { startFakeOpenAI } from './fake-openai.mjs'
//   const fake = await startFakeOpenAI({ scenario: 'text' }); fake.baseUrl; fake.requests; await fake.close()
//
// Which answer a request gets, first match wins:
//   1. a directive in the newest user message that holds one:  [[fake SCENARIO]]  or  [[fake {json}]]
//        {"scenario":"tool","name":"write_file","args":{"file_path":"/tmp/a","content":"x"},"then":"done"}
//        {"steps":[{...step},{...step}]}        one step per assistant turn after that user message
//   2. the model name when it is "fake-SCENARIO" (fake-http-500, fake-slow, ...)
//   3. the server's default scenario (option `scenario`, or POST /__control {"scenario":"..."})
// The step is chosen by counting assistant messages after the directive, so the server keeps no
// conversation state; only "times" (fail N times, then succeed) is counted, per directive and what came before it.
//
// Step fields (all optional):
//   text            assistant text (string, or array of strings = the exact stream chunks)
//   reasoning       reasoning_content (string or array), streamed before the text
//   tool_calls      [{id,name,args|raw_args,chunks}]  args: object; raw_args: string sent as is; chunks: split count
//   interleave      true: stream the argument pieces of parallel calls interleaved
//   finish          finish_reason (default: "tool_calls" when there are tool calls, else "stop"); null = never sent
//   usage           "end" (own chunk with choices:[]) | "last" (on the finish chunk) | "each" | "missing" | object
//   delay_ms        wait before the first byte;   chunk_ms: wait before every further chunk
//   status          HTTP error status instead of an answer; error: body object; headers: extra headers
//   times           with status/drop: only the first N requests of this conversation fail, later ones get `after`
//   after           the step used once `times` is used up (default {text:"recovered"})
//   drop            "before" (close the socket, no answer) | number (destroy the socket after that many chunks)
//   no_done         true: end without "data: [DONE]"
//   raw_sse         array of strings written verbatim as SSE data lines
//   hang            true: accept and never answer
//   echo            true: answer with the last text part of the last user message (less the directive)
// In addition to the steps a directive may hold
//   forced          {TOOL: args}: the answer to a request whose tool_choice forces a tool ("required" or a named
//                   function), as clients send for side questions (classifiers, titles). Without it the fake calls
//                   the forced tool with the smallest arguments its schema allows (false, 0, "", [] ...).
//                   forced:false turns this off, and such a request gets the normal step.
//
// Routes: POST /v1/chat/completions (also without /v1), GET /v1/models, GET /__requests, POST /__control, GET /healthz
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import http from 'node:http'

const sleep = (ms) => new Promise((r) => setTimeout(r, ms))

export const SCENARIOS = {
  text: { text: ['Hello', ' from', ' the', ' fake', ' model.'] },
  empty: { text: '' },
  unicode: { text: ['héllo ', '世界 ', '👩‍👩‍👧‍👦 ', 'ls:\u2028 ps:\u2029 ', 'nul?:\u0001 ', 'bidi:\u202e.'] },
  'surrogate-split': { text: ['a\ud83d', '\ude00b'] },
  reasoning: { reasoning: ['Let me ', 'think', ' about it.'], text: ['The answer', ' is 42.'] },
  'reasoning-only': { reasoning: ['Only', ' thoughts.'], text: '' },
  tool: {
    steps: [
      { tool_calls: [{ name: 'write_file', args: { file_path: 'fake-openai.txt', content: 'hello' } }] },
      { text: 'Tool finished.' },
    ],
  },
  'tools-parallel': {
    steps: [
      {
        tool_calls: [
          { name: 'read_file', args: { file_path: '/etc/hostname' } },
          { name: 'list_directory', args: { path: '/tmp' } },
        ],
        interleave: true,
      },
      { text: 'Both finished.' },
    ],
  },
  'text-then-tool': {
    steps: [
      { text: ['I will ', 'look.'], tool_calls: [{ name: 'list_directory', args: { path: '/tmp' } }] },
      { text: 'Looked.' },
    ],
  },
  'tool-bad-json': {
    steps: [
      { tool_calls: [{ name: 'list_directory', raw_args: '{"path": "/tmp"' }] },
      { text: 'After bad arguments.' },
    ],
  },
  'tool-unknown': {
    steps: [{ tool_calls: [{ name: 'no_such_tool', args: { a: 1 } }] }, { text: 'After the unknown tool.' }],
  },
  slow: { text: Array.from({ length: 40 }, (_, i) => `w${i} `), chunk_ms: 250 },
  'long-think': { delay_ms: 15000, text: 'late answer' },
  length: { text: ['This was cut'], finish: 'length' },
  filter: { text: ['Partly'], finish: 'content_filter' },
  'no-finish': { text: ['No finish reason'], finish: null },
  'no-done': { text: ['No done line'], no_done: true },
  'usage-missing': { text: ['No usage here.'], usage: 'missing' },
  'usage-last': { text: ['Usage on the finish chunk.'], usage: 'last' },
  'usage-each': { text: ['Usage ', 'everywhere.'], usage: 'each' },
  'http-400': {
    status: 400,
    error: { message: 'bad request from fake', type: 'invalid_request_error', param: null, code: 'fake_bad_request' },
  },
  'http-401': {
    status: 401,
    error: { message: 'bad key from fake', type: 'authentication_error', param: null, code: 'invalid_api_key' },
  },
  'http-429': {
    status: 429,
    headers: { 'retry-after': '1' },
    error: { message: 'rate limited by fake', type: 'rate_limit_error', param: null, code: 'rate_limit_exceeded' },
  },
  'http-429-once': {
    status: 429,
    times: 1,
    headers: { 'retry-after': '1' },
    error: { message: 'rate limited by fake', type: 'rate_limit_error', param: null, code: 'rate_limit_exceeded' },
  },
  'http-500': {
    status: 500,
    error: { message: 'server exploded (fake)', type: 'server_error', param: null, code: null },
  },
  'http-503': { status: 503, error: { message: 'overloaded (fake)', type: 'server_error', param: null, code: null } },
  'drop-before': { drop: 'before' },
  drop: { text: ['one ', 'two ', 'three ', 'four ', 'five '], chunk_ms: 50, drop: 3 },
  'drop-once': {
    text: ['one ', 'two ', 'three '],
    chunk_ms: 50,
    drop: 2,
    times: 1,
    after: { text: 'second try worked' },
  },
  'sse-error': {
    raw_sse: [
      '{"error":{"message":"error inside the stream (fake)","type":"server_error","code":"fake_stream_error"}}',
    ],
  },
  'sse-garbage': {
    raw_sse: [
      '{"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"ok "}}]}',
      '{this is not json',
    ],
  },
  hang: { hang: true },
  echo: { echo: true },
}

const lastText = (c) =>
  typeof c === 'string'
    ? c
    : Array.isArray(c)
      ? ([...c]
          .reverse()
          .map((p) => (typeof p === 'string' ? p : p?.text))
          .find((t) => typeof t === 'string') ?? '')
      : ''
const smallest = (sch) => {
  if (!sch || typeof sch !== 'object') return {}
  if ('const' in sch) return sch.const
  if (Array.isArray(sch.enum)) return sch.enum[0]
  const t = Array.isArray(sch.type) ? sch.type[0] : sch.type
  if (t === 'boolean') return false
  if (t === 'number' || t === 'integer') return sch.minimum ?? 0
  if (t === 'string') return ''
  if (t === 'array') return []
  if (t === 'null') return null
  return Object.fromEntries((sch.required ?? []).map((k) => [k, smallest(sch.properties?.[k])]))
}
const textOf = (c) =>
  typeof c === 'string'
    ? c
    : Array.isArray(c)
      ? c.map((p) => (typeof p === 'string' ? p : (p?.text ?? ''))).join('')
      : ''

function findDirective(text) {
  // The first directive wins, so that a JSON directive may carry another one inside a string (a sub-agent's prompt).
  const at = text.indexOf('[[fake ')
  if (at < 0) return null
  const end = text.indexOf(']]', at)
  // JSON may itself hold "]]" (nested arrays): try every closing position.
  for (let e = end; e >= 0; e = text.indexOf(']]', e + 1)) {
    const body = text.slice(at + 7, e).trim()
    if (!body.startsWith('{'))
      return SCENARIOS[body]
        ? { ...SCENARIOS[body], _name: body }
        : { status: 400, error: { message: `fake: unknown scenario ${body}`, type: 'invalid_request_error' } }
    for (const tail of ['', ']', ']]']) {
      try {
        const d = JSON.parse(body + tail)
        return d.scenario ? { ...SCENARIOS[d.scenario], ...d, _name: d.scenario } : { ...d, _name: 'inline' }
      } catch {}
    }
  }
  return null
}

function pick(body, defaultScenario) {
  const msgs = Array.isArray(body.messages) ? body.messages : []
  let plan = null
  let from = 0
  for (let i = msgs.length - 1; i >= 0; i--) {
    if (msgs[i]?.role !== 'user') continue
    // a client may merge several turns into one message: its last part with a directive counts
    const parts = Array.isArray(msgs[i].content) ? [...msgs[i].content].reverse() : [msgs[i].content]
    const d = parts.map((p) => findDirective(typeof p === 'string' ? p : (p?.text ?? ''))).find(Boolean)
    if (d) {
      plan = d
      from = i
      break
    }
  }
  if (!plan) {
    const m = /^fake-(.+)$/.exec(String(body.model ?? ''))
    const name = m && SCENARIOS[m[1]] ? m[1] : defaultScenario
    plan = { ...SCENARIOS[name], _name: name }
    for (let i = msgs.length - 1; i >= 0; i--)
      if (msgs[i]?.role === 'user') {
        from = i
        break
      }
  }
  if (plan._name === 'tool' && plan.name) {
    plan = {
      ...plan,
      steps: [
        { tool_calls: [{ id: plan.id, name: plan.name, args: plan.args, raw_args: plan.raw_args }] },
        { text: plan.then ?? 'Tool finished.' },
      ],
    }
  }
  const turn = msgs.slice(from).filter((m) => m?.role === 'assistant').length
  const steps = plan.steps ?? [plan]
  const step = steps[Math.min(turn, steps.length - 1)]
  const lastUser = [...msgs].reverse().find((m) => m?.role === 'user')
  const forcedBy =
    body.tool_choice === 'required'
      ? body.tools?.[0]
      : typeof body.tool_choice === 'object' && body.tool_choice
        ? body.tools?.find((t) => t.function?.name === body.tool_choice.function?.name)
        : null
  if (forcedBy?.function && plan.forced !== false) {
    const name = forcedBy.function.name
    return {
      name: `forced:${name}`,
      turn,
      step: { tool_calls: [{ name, args: plan.forced?.[name] ?? smallest(forcedBy.function.parameters) }] },
      lastUser: textOf(lastUser?.content ?? ''),
      echo: '',
      from: msgs.length,
      multi: true,
    }
  }
  return {
    name: plan._name,
    turn,
    step,
    lastUser: textOf(lastUser?.content ?? ''),
    echo: lastText(lastUser?.content).replace(/\s*\[\[fake .*\]\]\s*$/s, ''),
    from,
    multi: steps.length > 1,
  }
}

const arr = (x) => (x == null || x === '' ? [] : Array.isArray(x) ? x : [x])
const split = (s, n) => {
  const k = Math.max(1, Math.ceil(s.length / n))
  const out = []
  for (let i = 0; i < s.length; i += k) out.push(s.slice(i, i + k))
  return out.length ? out : ['']
}

export async function startFakeOpenAI({
  port = 0,
  host = '127.0.0.1',
  scenario = 'text',
  log = null,
  logBodies = false,
} = {}) {
  const state = { scenario, n: 0, seen: new Map() }
  const requests = []
  const sockets = new Set()
  const out = log ? fs.createWriteStream(log, { flags: 'a' }) : null
  const note = (r) => {
    requests.push(r)
    out?.write(`${JSON.stringify(r)}\n`)
  }

  const server = http.createServer(async (req, res) => {
    const url = new URL(req.url, 'http://fake')
    const json = (code, obj, headers = {}) => {
      res.writeHead(code, { 'content-type': 'application/json', ...headers })
      res.end(JSON.stringify(obj))
    }
    const parts = []
    try {
      for await (const c of req) parts.push(c)
    } catch {
      return
    }
    const raw = Buffer.concat(parts)
    if (url.pathname === '/healthz') return json(200, { ok: true })
    if (url.pathname === '/__requests') return json(200, requests)
    if (url.pathname === '/__control' && req.method === 'POST') {
      Object.assign(state, JSON.parse(raw.toString() || '{}'))
      return json(200, { scenario: state.scenario })
    }
    if (/\/models$/.test(url.pathname))
      return json(200, { object: 'list', data: [{ id: 'fake-model', object: 'model', created: 0, owned_by: 'fake' }] })
    if (!/\/chat\/completions$/.test(url.pathname) || req.method !== 'POST') {
      note({ n: ++state.n, path: url.pathname, method: req.method, status: 404 })
      return json(404, {
        error: { message: `fake: no route ${req.method} ${url.pathname}`, type: 'invalid_request_error' },
      })
    }

    let body
    try {
      body = JSON.parse(raw.toString())
    } catch {
      return json(400, { error: { message: 'fake: body is not JSON', type: 'invalid_request_error' } })
    }
    const n = ++state.n
    let { name, turn, step, lastUser, echo, from, multi } = pick(body, state.scenario)
    const key = createHash('sha256')
      .update(JSON.stringify([(body.messages ?? []).slice(0, from + 1), name, multi ? turn : 0]))
      .digest('hex')
    const tries = (state.seen.get(key) ?? 0) + 1
    state.seen.set(key, tries)
    if (step.times && tries > step.times) step = step.after ?? { text: 'recovered' }
    const rec = {
      n,
      at: Date.now(),
      path: url.pathname,
      stream: !!body.stream,
      model: body.model,
      scenario: name,
      turn,
      attempt: tries,
      bytes: raw.length,
      roles: (body.messages ?? []).map((m) => m.role),
      tools: (body.tools ?? []).map((t) => t.function?.name ?? t.name),
      keys: Object.keys(body),
      stream_options: body.stream_options,
      max_tokens: body.max_tokens,
      headers: Object.keys(req.headers),
      last_user_bytes: Buffer.byteLength(lastUser),
      ...(logBodies ? { body } : {}),
      outcome: 'pending',
    }
    note(rec)
    res.on('close', () => {
      if (rec.outcome === 'pending') rec.outcome = res.writableFinished ? 'sent' : 'client-closed'
      out?.write(`${JSON.stringify({ n, outcome: rec.outcome })}\n`)
    })

    if (step.hang) return
    if (step.delay_ms) await sleep(step.delay_ms)
    if (step.drop === 'before') {
      rec.outcome = 'dropped'
      return void req.socket.destroy()
    }
    if (step.status) {
      rec.outcome = `http-${step.status}`
      return json(step.status, { error: step.error ?? { message: `fake ${step.status}`, type: 'fake' } }, step.headers)
    }

    const id = `chatcmpl-fake-${n}`
    const created = 1700000000
    const model = body.model ?? 'fake-model'
    const texts = step.echo ? [echo] : arr(step.text)
    const thoughts = arr(step.reasoning)
    const calls = (step.tool_calls ?? []).map((c, i) => ({
      index: i,
      id: c.id ?? `call_fake_${n}_${i}`,
      name: c.name,
      args: c.raw_args ?? JSON.stringify(c.args ?? {}),
      chunks: c.chunks ?? 3,
    }))
    const finish = step.finish === undefined ? (calls.length ? 'tool_calls' : 'stop') : step.finish
    const prompt_tokens = Math.ceil(raw.length / 4)
    const completion_tokens =
      Math.max(1, texts.join('').length + thoughts.join('').length + calls.reduce((a, c) => a + c.args.length, 0)) >>
        2 || 1
    const usage =
      typeof step.usage === 'object' && step.usage
        ? step.usage
        : {
            prompt_tokens,
            completion_tokens,
            total_tokens: prompt_tokens + completion_tokens,
            prompt_tokens_details: { cached_tokens: 0 },
          }
    const mode = typeof step.usage === 'string' ? step.usage : 'end'

    if (!body.stream) {
      const message = { role: 'assistant', content: texts.length ? texts.join('') : null }
      if (thoughts.length) message.reasoning_content = thoughts.join('')
      if (calls.length)
        message.tool_calls = calls.map((c) => ({
          id: c.id,
          type: 'function',
          function: { name: c.name, arguments: c.args },
        }))
      if (step.drop != null) {
        rec.outcome = 'dropped'
        res.writeHead(200, { 'content-type': 'application/json' })
        res.write('{"id":"')
        return void setTimeout(() => req.socket.destroy(), 20)
      }
      return json(200, {
        id,
        object: 'chat.completion',
        created,
        model,
        choices: [{ index: 0, message, finish_reason: finish }],
        ...(mode === 'missing' ? {} : { usage }),
      })
    }

    res.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      connection: 'keep-alive',
    })
    let sent = 0
    let gone = false
    const isGone = () => gone || res.destroyed
    const data = async (s) => {
      if (isGone()) return
      if (sent > 0 && step.chunk_ms) await sleep(step.chunk_ms)
      if (isGone()) return
      if (typeof step.drop === 'number' && sent >= step.drop) {
        gone = true
        rec.outcome = 'dropped'
        await sleep(10)
        req.socket.destroy()
        return
      }
      sent++
      res.write(`data: ${s}\n\n`)
    }
    const chunk = (delta, fr = null, extra = {}) =>
      data(
        JSON.stringify({
          id,
          object: 'chat.completion.chunk',
          created,
          model,
          choices: [{ index: 0, delta, finish_reason: fr }],
          ...(mode === 'each' ? { usage } : {}),
          ...extra,
        }),
      )

    if (step.raw_sse) {
      for (const s of step.raw_sse) await data(s)
      if (!isGone()) {
        if (!step.no_done) res.write('data: [DONE]\n\n')
        res.end()
      }
      return
    }
    await chunk({ role: 'assistant', content: '' })
    for (const t of thoughts) await chunk({ reasoning_content: t })
    for (const t of texts) await chunk({ content: t })
    if (calls.length) {
      const heads = calls.map((c) => ({
        tool_calls: [{ index: c.index, id: c.id, type: 'function', function: { name: c.name, arguments: '' } }],
      }))
      const bodies = calls.map((c) =>
        split(c.args, c.chunks).map((p) => ({ tool_calls: [{ index: c.index, function: { arguments: p } }] })),
      )
      if (step.interleave) {
        for (const h of heads) await chunk(h)
        for (let i = 0; i < Math.max(...bodies.map((b) => b.length)); i++)
          for (const b of bodies) if (b[i]) await chunk(b[i])
      } else
        for (let i = 0; i < calls.length; i++) {
          await chunk(heads[i])
          for (const b of bodies[i]) await chunk(b)
        }
    }
    if (finish !== null) await chunk({}, finish, mode === 'last' ? { usage } : {})
    if (mode === 'end')
      await data(JSON.stringify({ id, object: 'chat.completion.chunk', created, model, choices: [], usage }))
    if (typeof step.drop === 'number' && !isGone()) {
      gone = true
      rec.outcome = 'dropped'
      await sleep(10)
      req.socket.destroy()
      return
    }
    if (isGone()) return
    if (!step.no_done) res.write('data: [DONE]\n\n')
    res.end()
  })
  server.on('connection', (s) => {
    sockets.add(s)
    s.on('close', () => sockets.delete(s))
  })
  server.keepAliveTimeout = 5000
  await new Promise((ok, no) => {
    server.once('error', no)
    server.listen(port, host, ok)
  })
  const p = server.address().port
  return {
    port: p,
    host,
    baseUrl: `http://${host}:${p}/v1`,
    requests,
    state,
    server,
    close: () =>
      new Promise((r) => {
        for (const s of sockets) s.destroy()
        server.close(() => {
          out ? out.end(r) : r()
        })
      }),
  }
}
