#!/usr/bin/env node
// A zot-RPC agent without a model: NDJSON commands on stdin, responses and events on stdout. It remembers its
// conversation, streams its answer word by word, and can be aborted.

const messages = []
const usage = { input: 0, output: 0, cache_read: 0, cache_write: 0, cost_usd: 0 }
const queue = []
const token = process.env.ZOTCORE_RPC_TOKEN
let trusted = !token
let running = false
let aborted = false

const send = (frame) => process.stdout.write(`${JSON.stringify(frame)}\n`)
const respond = ({ id, type }, data) =>
  send({ type: 'response', ...(id && { id }), command: type, success: true, data })
const refuse = ({ id, type }, error) =>
  send({ type: 'response', ...(id && { id }), command: type ?? '', success: false, error })
const text = (value) => [{ type: 'text', text: value }]
const now = () => new Date().toISOString()

function remember(role, content) {
  const message = { role, content, time: now() }
  messages.push(message)
  return message
}

async function prompt(command) {
  respond(command, { started: true })
  const asked = remember('user', text(command.message))
  send({ type: 'user_message', content: asked.content, time: asked.time })
  send({ type: 'turn_start', step: 1 })
  send({ type: 'assistant_start' })
  const turn = messages.filter(({ role }) => role === 'user').length
  const words = `You said: ${command.message} (turn ${turn} of this session)`.match(/\s*\S+/g)
  let answer = ''
  for (const word of words) {
    if (aborted) break
    answer += word
    send({ type: 'text_delta', delta: word })
    await new Promise(setImmediate)
  }
  const spent = { input: command.message.length, output: words.length, cache_read: 0, cache_write: 0, cost_usd: 0 }
  for (const key of Object.keys(usage)) usage[key] += spent[key]
  send({ type: 'usage', ...spent, cumulative: { ...usage } })
  const said = remember('assistant', text(answer))
  send({ type: 'assistant_message', content: said.content, time: said.time })
  send({ type: 'turn_end', stop: aborted ? 'aborted' : 'end_turn' })
  send({ type: 'done' })
}

async function compact(command) {
  respond(command, { started: true })
  const summary = `A conversation of ${messages.length} messages.`
  messages.splice(0, messages.length)
  remember('user', text(summary))
  send({ type: 'compact_done', summary })
}

async function work() {
  if (running) return
  running = true
  for (let next = queue.shift(); next; next = queue.shift()) {
    aborted = false
    await next()
  }
  running = false
}

const MODEL = { id: 'example-1', provider: 'example', context_window: 8192, max_output: 1024, reasoning: false }

const commands = {
  hello: (c) => {
    trusted = !token || c.token === token
    if (!trusted) {
      refuse(c, 'wrong token')
      process.exit(1)
    }
    respond(c, { protocol_version: 1, version: '0.0.0-example', provider: MODEL.provider, model: MODEL.id })
  },
  prompt: (c) => queue.push(() => prompt(c)) && work(),
  compact: (c) => queue.push(() => compact(c)) && work(),
  abort: (c) => {
    aborted = true
    respond(c, {})
  },
  get_state: (c) =>
    respond(c, { ...MODEL, model: MODEL.id, cwd: process.cwd(), message_count: messages.length, busy: running, usage }),
  get_messages: (c) => respond(c, { messages }),
  get_models: (c) => respond(c, { models: [MODEL] }),
  set_model: (c) => (c.model === MODEL.id ? respond(c, { model: MODEL.id }) : refuse(c, `unknown model: ${c.model}`)),
  clear: (c) => {
    messages.splice(0, messages.length)
    respond(c, {})
  },
  ping: (c) => respond(c, { pong: true }),
}

// A line ends at LF only: `node:readline` would also cut at U+2028 and U+2029, which are text inside a JSON string.
function onLine(take) {
  let rest = ''
  process.stdin.setEncoding('utf8')
  process.stdin.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()
    lines.forEach(take)
  })
  process.stdin.on('end', () => rest && take(rest))
}

onLine((line) => {
  let command
  try {
    command = JSON.parse(line)
  } catch {
    return refuse({}, 'malformed json')
  }
  if (command === null || typeof command !== 'object' || Array.isArray(command)) return refuse({}, 'malformed json')
  if (!trusted && command.type !== 'hello') return refuse(command, 'say hello with the token first')
  const run = Object.hasOwn(commands, command.type) ? commands[command.type] : undefined
  if (run) run(command)
  else refuse(command, `unknown command: ${command.type}`)
})
