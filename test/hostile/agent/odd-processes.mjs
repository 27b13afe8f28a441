// Behaviours of the process: what is wrong with its start, its streams, its children and its end.
import { spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { answer, answerAndLeave, forever, interrupted } from './answers.mjs'
import { writeAll } from './wire.mjs'

const MARK = process.argv[4]
const noise = (kibibytes) => 'noise '.repeat(171 * kibibytes)

const soundly = (talk, wire) => {
  wire.behave()
  answerAndLeave(talk)
}

export const PROCESSES = {
  'exits-0-in-the-answer': interrupted(() => process.exit(0)),
  'stays-after-the-answer': (talk) => {
    forever()
    answer(talk)
  },
  'closes-stdout-after-the-answer': (talk) => {
    forever()
    answer(talk)
    closeSync(1)
  },
  'fails-after-the-answer': (talk, wire) => {
    answer(talk)
    writeAll(2, 'Error: cannot flush\n')
    wire.line('bye')
    process.exit(3)
  },
  'stderr-before-stdout': (talk) => {
    writeAll(2, noise(1024))
    answerAndLeave(talk)
  },
  'stderr-for-ever': (talk) => {
    setInterval(() => writeAll(2, noise(64)), 5)
    answerAndLeave(talk)
  },
  // A grandchild that has left the process group, and holds the output.
  'double-fork': (talk) => {
    const child = spawn('sh', ['-c', `setsid sleep ${MARK} & exit 0`], { stdio: ['ignore', 'inherit', 'inherit'] })
    child.on('exit', () => answerAndLeave(talk))
  },
  // What is odd about these comes before the prompt.
  'reads-all-first': answerAndLeave,
  'never-reads': answerAndLeave,
  'no-greeting': soundly,
  'refuses-the-greeting': soundly,
  'frames-before-the-greeting': answerAndLeave,
  'dies-at-start': answerAndLeave,
}

/** A message that would be part of an answer, by protocol. */
const EARLY = {
  agentproc: 'AGENT_PARTIAL:"early "',
  'agentproc@0.4': { type: 'partial', text: 'early ' },
  zene: {
    ok: true,
    request_id: 'r0',
    session_id: null,
    text: 'early',
    error_code: null,
    error_message: null,
    usage: {},
  },
  'zene-stream': {
    protocol_version: 1,
    ts_ms: 0,
    type: 'event',
    request_id: 'r0',
    seq: 1,
    event_type: 'TEXT_DELTA',
    payload: { delta: 'early ' },
  },
  zot: { type: 'text_delta', delta: 'early ' },
  qwen: {
    object: 'chat.completion.chunk',
    id: 'c0',
    created: 1,
    choices: [{ index: 0, delta: { content: 'early ' }, finish_reason: null }],
  },
  'qwen-code': {
    type: 'stream_event',
    uuid: 'e0',
    event: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'early ' } },
  },
  native: { type: 'text-delta', turn: 't0', message: 'm0', text: 'early ' },
  acp: {
    jsonrpc: '2.0',
    method: 'session/update',
    params: {
      sessionId: 'hostile-1',
      update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'early ' } },
    },
  },
  'claude-code': {
    type: 'stream_event',
    uuid: 'e0',
    event: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'early ' } },
  },
  codex: {
    method: 'item/agentMessage/delta',
    params: { threadId: 'hostile-1', turnId: 'turn-0', itemId: 'm0', delta: 'early ' },
  },
}

/** Reads everything before it takes the first line. */
function readAll(wire) {
  wire.lines = (take) => {
    let all = ''
    process.stdin.setEncoding('utf8').on('data', (text) => {
      all += text
    })
    process.stdin.on('end', () => {
      for (const line of all.split('\n')) if (line.trim() !== '') take(JSON.parse(line))
    })
  }
}

function refuse(wire) {
  wire.revise = (value) => {
    if (value.command === 'hello') return { ...value, success: false, error: 'wrong token', data: undefined }
    if (value.result) return { ...value, result: undefined, error: { code: -32603, message: 'wrong token' } }
    if (value.type !== 'control_response') return value
    const { request_id } = value.response
    return { ...value, response: { subtype: 'error', request_id, error: 'wrong token' } }
  }
}

/** What is done before the first prompt. */
export const PREPARE_PROCESSES = {
  'reads-all-first': readAll,
  'never-reads': (wire) => {
    wire.lines = forever
  },
  // Nothing is said before the prompt, which some wait in vain to send.
  'no-greeting': (wire) => {
    wire.write = () => {}
  },
  'refuses-the-greeting': refuse,
  'frames-before-the-greeting': (wire, protocol) => {
    const early = EARLY[protocol]
    wire.line(typeof early === 'string' ? early : JSON.stringify(early))
  },
  'dies-at-start': () => process.exit(3),
}
