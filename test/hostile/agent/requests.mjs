#!/usr/bin/env node
// An agent that asks and answers what it should not: `requests.mjs PROTOCOL BEHAVIOUR`. Its answer tells what it was
// answered itself. A prompt `behave` is answered well, whatever the behaviour.
const [protocol, behaviour] = process.argv.slice(2)
/** What is said in one step leaves in one write: none of it comes to the next turn by chance. */
let waiting = ''
function raw(text) {
  if (waiting === '')
    queueMicrotask(() => {
      process.stdout.write(waiting)
      waiting = ''
    })
  waiting += text
}
const send = (message) => raw(`${JSON.stringify(message)}\n`)
/** The lines that the gateway has answered with, raw. */
const heard = []
let onAnswer = () => {}

/** Sends lines with requests of its own, and goes on when each has an answer. */
function ask(lines, then) {
  const from = heard.length
  onAnswer = () => {
    if (heard.length - from < lines.length) return
    onAnswer = () => {}
    then(heard.slice(from))
  }
  for (const line of lines) raw(`${line}\n`)
}

/** What answers came to: each id as it was written, with the code of an error, or `result`. */
const outcomes = (lines) =>
  lines
    .toSorted()
    .map(
      (line) =>
        `${/"(?:id|request_id)":("[^"]*"|[^,}]+)/.exec(line)[1]} ${/"code":(-?\d+)/.exec(line)?.[1] ?? kindOf(line)}`,
    )
    .join(', ')
const kindOf = (line) => (/"subtype":"error"/.test(line) ? 'error' : 'result')

const IDS = ['0', '-1', '1.5', '""', '"a b"', 'null', '9007199254740993']

// The Agent Client Protocol.
const sessionId = 's1'
const rpc = (message) => send({ jsonrpc: '2.0', ...message })
const request = (id, method, params) =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${JSON.stringify({ sessionId, ...params })}}`
const chunk = (text, session = sessionId) => ({
  jsonrpc: '2.0',
  method: 'session/update',
  params: { sessionId: session, update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } },
})
const say = (text) => send(chunk(text))
const options = [
  { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
]
const told = (lines, end) => {
  say(outcomes(lines))
  end()
}

/** Answers to methods other than a prompt, by behaviour; a missing one is the usual one. */
const OPENINGS = {
  'nothing to initialize': { initialize: () => {} },
  'another version': { initialize: (id) => rpc({ id, result: { protocolVersion: 2 } }) },
  'no version': { initialize: (id) => rpc({ id, result: {} }) },
  'an error to initialize': { initialize: (id) => rpc({ id, error: { code: -32603, message: 'not today' } }) },
  'no object to initialize': { initialize: (id) => rpc({ id, result: 7 }) },
  'frames by Content-Length': { initialize: () => raw('Content-Length: 2\r\n\r\n{}') },
  'a login is wanted': {
    'session/new': (id) => rpc({ id, error: { code: -32000, message: 'Authentication required' } }),
  },
  'an error to session/new': { 'session/new': (id) => rpc({ id, error: { code: -32603, message: 'no' } }) },
  'a session without an id': { 'session/new': (id) => rpc({ id, result: {} }) },
  'an id that came back as text': { initialize: (id) => rpc({ id: String(id), result: { protocolVersion: 1 } }) },
}

const ACP = {
  'an error without a message': (_end, id) => rpc({ id, error: {} }),
  'an error of a provider': (_end, id) => rpc({ id, error: { code: -32603, message: 'HTTP 429 Too Many Requests' } }),
  'neither result nor error': (end, id) => {
    rpc({ id })
    end()
  },
  'a batch': (end) => {
    send([chunk('One '), chunk('two.')])
    say('three.')
    end()
  },
  'an unknown stop reason': (_end, id) => {
    say('x')
    rpc({ id, result: { stopReason: 'bored' } })
  },
  'ids of every kind': (end) =>
    ask(
      IDS.map((id) => request(id, 'x/y', {})),
      (lines) => told(lines, end),
    ),
  'a session that is unknown': (end) => {
    send(chunk('stray', 'other'))
    say('mine')
    end()
  },
  'two answers': (end) => {
    say('once')
    end()
    end()
  },
  'an answer to nothing': (end) => {
    rpc({ id: 99, result: {} })
    say('x')
    end()
  },
  'an answer before the last update': (end) => {
    say('early')
    end()
    say('late')
  },
  'noise on stdout': (end) => {
    raw('[info] starting\n{"half":\n')
    say('x')
    end()
  },
  'a permission without options': (end) =>
    ask([request(1, 'session/request_permission', { toolCall: { toolCallId: 't' }, options: [] })], (lines) =>
      told(lines, end),
    ),
  'a permission of another session': (end) =>
    ask(
      [request(1, 'session/request_permission', { sessionId: 'other', toolCall: { toolCallId: 't' }, options })],
      (lines) => {
        say(JSON.stringify(JSON.parse(lines[0]).result))
        end()
      },
    ),
  'a permission without parameters': (end) =>
    ask([request(1, 'session/request_permission', {})], (lines) => told(lines, end)),
  'files outside of its folder': (end) =>
    ask(
      [
        request(1, 'fs/read_text_file', { path: '/etc/passwd' }),
        request(2, 'fs/read_text_file', { path: `${process.cwd()}/../outside.txt` }),
        request(3, 'fs/read_text_file', { path: `${process.cwd()}/link.txt` }),
        request(4, 'fs/write_text_file', { path: `${process.cwd()}/link.txt`, content: 'taken' }),
        request(5, 'fs/write_text_file', { path: 'relative.txt', content: 'taken' }),
        request(6, 'fs/write_text_file', { path: `${process.cwd()}/own.txt`, content: 'mine' }),
      ],
      (lines) => told(lines, end),
    ),
  'files that are not offered': (end) =>
    ask(
      [
        request(1, 'fs/read_text_file', { path: `${process.cwd()}/own.txt` }),
        request(2, 'fs/write_text_file', { path: `${process.cwd()}/own.txt`, content: 'x' }),
      ],
      (lines) => told(lines, end),
    ),
  'terminals that are not offered': (end) =>
    ask(
      [
        request(1, 'terminal/create', { command: 'touch', args: ['taken'] }),
        request(2, 'terminal/output', { terminalId: 'x' }),
      ],
      (lines) => told(lines, end),
    ),
}

function acp(message, line) {
  const { id, method, params } = message
  if (method === undefined) {
    heard.push(line)
    onAnswer()
  } else if (OPENINGS[behaviour]?.[method]) OPENINGS[behaviour][method](id)
  else if (method === 'initialize') rpc({ id, result: { protocolVersion: 1 } })
  else if (method === 'session/new') rpc({ id, result: { sessionId } })
  else if (method === 'session/prompt') {
    const end = () => rpc({ id, result: { stopReason: 'end_turn' } })
    const act = params.prompt[0].text === 'behave' ? undefined : ACP[behaviour]
    if (act) act(end, id)
    else {
      say('well')
      end()
    }
  }
}

// Codex's app-server.
const note = (method, params) => send({ method, params: { threadId: 'th', turnId: 'u1', ...params } })
const item = (text) => note('item/completed', { item: { type: 'agentMessage', id: `m-${text}`, text } })
const CODEX = {
  'an unknown request': (end) =>
    ask(['{"id":0,"method":"x/y","params":{}}', '{"id":"q","method":"account/login","params":{}}'], (lines) => {
      item(outcomes(lines))
      end()
    }),
  'two ends': (end) => {
    item('once')
    end()
    end()
  },
  'text after the end': (end) => {
    item('early')
    end()
    item('late')
  },
  'a batch': (end) => {
    send([{ method: 'x' }])
    item('x')
    end()
  },
}

function codex({ id, method, params }, line) {
  if (method === undefined) {
    heard.push(line)
    onAnswer()
  } else if (method === 'initialize') {
    if (behaviour !== 'nothing to initialize') send({ id, result: { userAgent: 'x/0.171.0' } })
  } else if (method === 'thread/start') send({ id, result: { thread: { id: 'th' } } })
  else if (method === 'turn/start') {
    send({ id, result: { turn: { id: 'u1' } } })
    note('turn/started', { turn: { id: 'u1' } })
    const end = () => note('turn/completed', { turn: { id: 'u1', items: [], status: 'completed', error: null } })
    const act = params.input[0].text === 'behave' ? undefined : CODEX[behaviour]
    if (act) act(end)
    else {
      item('well')
      end()
    }
  }
}

// Claude Code.
const block = (text) =>
  send({
    type: 'assistant',
    session_id: 's',
    message: { id: `m-${text}`, role: 'assistant', content: [{ type: 'text', text }] },
  })
const CLAUDE = {
  'an unknown request': (end) =>
    ask(
      ['a', 'b'].map((id) => `{"type":"control_request","request_id":"${id}","request":{"subtype":"x_y"}}`),
      (lines) => {
        block(outcomes(lines))
        end()
      },
    ),
  'two ends': (end) => {
    block('once')
    end()
    end()
  },
  'text after the end': (end) => {
    block('early')
    end()
    block('late')
  },
  'a batch': (end) => {
    send([{ type: 'x' }])
    block('x')
    end()
  },
}

function claude({ type, request_id, request: asked, message }, line) {
  if (type === 'control_response') {
    heard.push(line)
    onAnswer()
  } else if (type === 'control_request') {
    if (asked.subtype === 'initialize' && behaviour === 'nothing to initialize') return
    send({ type: 'control_response', response: { subtype: 'success', request_id, response: {} } })
  } else if (type === 'user') {
    send({ type: 'system', subtype: 'init', session_id: 's' })
    const end = () => send({ type: 'result', subtype: 'success', is_error: false, session_id: 's', result: '' })
    const act = message.content[0].text === 'behave' ? undefined : CLAUDE[behaviour]
    if (act) act(end)
    else {
      block('well')
      end()
    }
  }
}

const take = { acp, codex, 'claude-code': claude }[protocol]
let rest = ''
process.stdin.setEncoding('utf8').on('data', (text) => {
  const lines = (rest + text).split('\n')
  rest = lines.pop()
  for (const line of lines) take(JSON.parse(line), line)
})
