// An agent on the official SDK of the Agent Client Protocol. Every line that its client writes is checked against the
// schema of its method; what does not fit goes to the file in WRONG. Prompts say what it does: see `WORK`.
import { appendFileSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Readable, Writable } from 'node:stream'
import * as acp from '@agentclientprotocol/sdk'

const require = createRequire(import.meta.url)
const { default: Ajv } = await import('ajv/dist/2020.js')
const schema = JSON.parse(readFileSync(require.resolve('@agentclientprotocol/sdk/schema/v1/schema.json'), 'utf8'))
const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true })
ajv.addSchema({ $id: 'acp', ...schema })
const definitions = Object.entries(schema.$defs).map(([name, { 'x-method': method }]) => ({ name, method }))
const asked = new Map()

/** Checks one line of the client: its requests and notifications, and its answers to the agent's own requests. */
function check(line) {
  const { id, method, params, result, error } = JSON.parse(line)
  const [of, value, known] =
    method === undefined ? [/Response$/, result, asked.get(id)] : [/(Request|Notification)$/, params, method]
  const name = error ? 'Error' : definitions.find((one) => one.method === known && of.test(one.name))?.name
  const fits = name !== undefined && ajv.validate({ $ref: `acp#/$defs/${name}` }, error ?? value)
  if (!fits) appendFileSync(process.env.WRONG, `${name ?? `no schema for ${known}`}: ${ajv.errorsText()}: ${line}\n`)
}

/** Shows each line of a stream to a function on its way. */
function tap(take) {
  const decoder = new TextDecoder()
  let rest = ''
  return new TransformStream({
    transform(chunk, controller) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop()
      for (const line of lines) if (line.trim() !== '') take(line)
      controller.enqueue(chunk)
    },
  })
}

const MODES = {
  currentModeId: 'ask',
  availableModes: [
    { id: 'ask', name: 'Ask' },
    { id: 'plan', name: 'Plan' },
  ],
}
const MODEL = {
  id: 'model',
  name: 'Model',
  category: 'model',
  type: 'select',
  currentValue: 'small',
  options: [
    { value: 'small', name: 'Small' },
    { value: 'big', name: 'Big' },
  ],
}
const toolCall = { toolCallId: 'c1', title: 'Write a.txt', kind: 'edit', rawInput: { path: 'a.txt' } }
const options = [
  { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' },
]

/** What prompts ask for; each returns what is said of it. */
const WORK = {
  async permission(client, sessionId) {
    const { outcome } = await client.request('session/request_permission', { sessionId, toolCall, options })
    return outcome.optionId ?? outcome.outcome
  },
  async form(client, sessionId) {
    const requestedSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
    const form = { mode: 'form', sessionId, message: 'Who?', requestedSchema }
    return (await client.request('elicitation/create', form)).action
  },
  async files(client, sessionId, folder) {
    await client.request('fs/write_text_file', { sessionId, path: `${folder}/new.txt`, content: 'one\ntwo\n' })
    const { content } = await client.request('fs/read_text_file', {
      sessionId,
      path: `${folder}/new.txt`,
      line: 2,
      limit: 1,
    })
    const outside = { sessionId, path: `${folder}/../outside.txt` }
    const refused = await client.request('fs/read_text_file', outside).catch((error) => error.code)
    const terminal = await client.request('terminal/create', { sessionId, command: 'ls' }).catch((error) => error.code)
    return JSON.stringify([content, refused, terminal])
  },
  hang: (_client, _sessionId, _folder, signal) =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve('aborted'))),
}

const sessions = new Map()
let count = 0
const app = acp
  .agent({ name: 'sdk-agent' })
  .onRequest('initialize', () => ({
    protocolVersion: 1,
    agentInfo: { name: 'sdk-agent', version: '1' },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: true, embeddedContext: true },
      sessionCapabilities: { close: {}, additionalDirectories: {} },
    },
    authMethods: [{ id: 'key', name: 'Key' }],
  }))
  .onRequest('authenticate', () => ({}))
  .onRequest('session/new', ({ params: { cwd } }) => {
    count += 1
    const sessionId = `${process.pid}-${count}`
    sessions.set(sessionId, { cwd, mode: 'ask', model: 'small' })
    return { sessionId, modes: MODES, configOptions: [MODEL] }
  })
  .onRequest('session/load', async ({ params: { sessionId, cwd }, client }) => {
    sessions.set(sessionId, { cwd, mode: 'ask', model: 'small' })
    const content = { type: 'text', text: 'what was said before' }
    await client.notify('session/update', { sessionId, update: { sessionUpdate: 'agent_message_chunk', content } })
    return { modes: MODES, configOptions: [MODEL] }
  })
  .onRequest('session/close', () => ({}))
  .onRequest('session/set_mode', ({ params: { sessionId, modeId } }) => {
    sessions.get(sessionId).mode = modeId
    return {}
  })
  .onRequest('session/set_config_option', ({ params: { sessionId, value } }) => {
    sessions.get(sessionId).model = value
    return { configOptions: [{ ...MODEL, currentValue: value }] }
  })
  .onRequest('session/prompt', async ({ params: { sessionId, prompt }, client }) => {
    const session = sessions.get(sessionId)
    const abort = new AbortController()
    session.abort = abort
    const word = prompt.find(({ type }) => type === 'text')?.text.trim() ?? ''
    const said = WORK[word]
      ? await WORK[word](client, sessionId, session.cwd, abort.signal)
      : `${session.mode} ${session.model} ${prompt.map(({ type }) => type).join(' ')}`
    const content = { type: 'text', text: said }
    await client.notify('session/update', { sessionId, update: { sessionUpdate: 'agent_message_chunk', content } })
    return { stopReason: abort.signal.aborted ? 'cancelled' : 'end_turn' }
  })
  .onNotification('session/cancel', ({ params: { sessionId } }) => sessions.get(sessionId).abort.abort())

const out = tap((line) => {
  const { id, method } = JSON.parse(line)
  if (id !== undefined && method !== undefined) asked.set(id, method)
})
void out.readable.pipeTo(Writable.toWeb(process.stdout))
app.connect(acp.ndJsonStream(out.writable, Readable.toWeb(process.stdin).pipeThrough(tap(check))))
