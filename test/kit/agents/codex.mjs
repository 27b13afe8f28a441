// A scripted `codex app-server`: what the real one says, for the first word of a prompt. It remembers its threads in the
// file THREADS, as the real one does on disk.
//   ask: a command after an approval · tool: a tool of the client · wait: until it is interrupted · fail: the model fails
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const FILE = process.env.THREADS
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`)
const turns = (thread) =>
  (existsSync(FILE) ? readFileSync(FILE, 'utf8') : '').split('\n').filter((line) => line === thread).length
let requests = 0
const open = new Map()
const ask = (method, params, then) => {
  open.set(requests, then)
  say({ method, id: requests, params })
  requests += 1
}

function run(threadId, text) {
  appendFileSync(FILE, `${threadId}\n`)
  const turnId = `${threadId}-${turns(threadId)}`
  const note = (method, params) => say({ method, params: { threadId, turnId, ...params } })
  const end = (turn) => {
    const counted = {
      inputTokens: 10 * turns(threadId),
      outputTokens: turns(threadId),
      totalTokens: 11 * turns(threadId),
    }
    note('thread/tokenUsage/updated', { tokenUsage: { total: counted, last: counted } })
    say({ method: 'turn/completed', params: { threadId, turn: { id: turnId, items: [], error: null, ...turn } } })
  }
  const answer = (said) => {
    for (const delta of said) note('item/agentMessage/delta', { itemId: `m-${turnId}`, delta })
    note('item/completed', { item: { type: 'agentMessage', id: `m-${turnId}`, text: said.join('') } })
    end({ status: 'completed' })
  }
  say({ method: 'turn/started', params: { threadId, turn: { id: turnId } } })
  const [word, ...rest] = text.split(' ')
  if (word === 'ask') {
    const item = {
      type: 'commandExecution',
      id: `c-${turnId}`,
      command: rest.join(' '),
      cwd: '/project',
      aggregatedOutput: '',
    }
    note('item/started', { item: { ...item, status: 'inProgress' } })
    ask('item/commandExecution/requestApproval', { threadId, turnId, itemId: item.id, reason: 'May I?' }, (result) => {
      const status = result?.decision === 'accept' ? 'completed' : 'declined'
      note('item/completed', { item: { ...item, status } })
      answer([`The command was ${status}.`])
    })
  } else if (word === 'tool') {
    const item = { type: 'dynamicToolCall', id: `d-${turnId}`, tool: rest[0], arguments: { of: rest[1] } }
    note('item/started', { item })
    ask(
      'item/tool/call',
      { threadId, turnId, callId: item.id, tool: rest[0], arguments: { of: rest[1] } },
      (result) => {
        note('item/completed', { item: { ...item, status: 'completed', contentItems: result.contentItems } })
        answer([`The tool said ${result.contentItems[0].text}.`])
      },
    )
  } else if (word === 'wait') {
    interrupt = () => end({ status: 'interrupted' })
    note('item/agentMessage/delta', { itemId: `m-${turnId}`, delta: 'waiting' })
  } else if (word === 'fail') {
    const info = { responseTooManyFailedAttempts: { httpStatusCode: 429 } }
    end({ status: 'failed', error: { message: 'too many requests', codexErrorInfo: info } })
  } else answer(['You said: ', `${text} (turn ${turns(threadId)})`])
  return turnId
}

let interrupt = () => {}
const METHODS = {
  initialize: () => ({ userAgent: 'turnpike/0.171.0 (Linux)' }),
  'thread/start': () => ({ thread: { id: `thread-${process.pid}` }, model: 'mock' }),
  'thread/resume': ({ threadId }) => turns(threadId) > 0 && { thread: { id: threadId }, model: 'mock' },
  'turn/interrupt': () => {
    setImmediate(() => interrupt())
    return {}
  },
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params, result } = JSON.parse(line)
  if (method === undefined) {
    open.get(id)?.(result)
    open.delete(id)
  } else if (method === 'turn/start') {
    const turn = `${params.threadId}-${turns(params.threadId) + 1}`
    say({ id, result: { turn: { id: turn } } })
    run(params.threadId, params.input.map(({ text }) => text).join(''))
  } else if (id !== undefined) {
    const answer = METHODS[method]?.(params)
    say(answer ? { id, result: answer } : { id, error: { code: -32600, message: `cannot do ${method}` } })
  }
})
