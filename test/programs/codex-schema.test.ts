import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { NOTES } from '../../codecs/codex/app-server/notes.ts'
import { READERS } from '../../codecs/codex/app-server/questions.ts'
import type { AskReply } from '../../src/model/index.ts'
import { asking, type Codex, greeted, type Message, running } from '../codecs/codex/kit.ts'
import { describeLarge, installedLarge } from './kit.ts'

const CLI = installedLarge('@openai/codex/bin/codex.js')

/** Requests of Codex that are refused: they are for clients that keep its login, or of an older protocol. */
const REFUSED = [
  'account/chatgptAuthTokens/refresh',
  'applyPatchApproval',
  'attestation/generate',
  'execCommandApproval',
]

/** The schemas of the answers to its requests, by their method. */
const ANSWERS: Readonly<Record<string, string>> = {
  'item/commandExecution/requestApproval': 'CommandExecutionRequestApprovalResponse',
  'item/fileChange/requestApproval': 'FileChangeRequestApprovalResponse',
  'item/permissions/requestApproval': 'PermissionsRequestApprovalResponse',
  'item/tool/requestUserInput': 'ToolRequestUserInputResponse',
  'mcpServer/elicitation/request': 'McpServerElicitationRequestResponse',
  'item/tool/call': 'DynamicToolCallResponse',
}

interface Schema {
  oneOf: { properties: { method: { enum: string[] } } }[]
}

/** The answers of a client to a question, as the agent gets them. */
function answers(method: string, params: object, replies: readonly AskReply[]): unknown[] {
  return replies.map((reply) => {
    const agent = asking(params, method)
    if (method === 'item/tool/call') {
      agent.item('started', { type: 'dynamicToolCall', id: 'd1', tool: 'weather', arguments: {} })
      agent.feed(JSON.stringify({ id: 1, method, params: { threadId: 'th', turnId: 'u1', callId: 'd1' } }))
      agent.sentNow()
    }
    agent.link.encode({ type: 'ask-reply', exchange: 'x2', target: 'running', reply })
    return agent.sentNow()[0]!.result
  })
}

const choice = (option: string): AskReply => ({ kind: 'approval', option })

/** Every request and notification that this side writes, in all of its forms. */
function written(): Message[] {
  const everything: Codex = greeted({
    process: { command: 'codex', env: {}, cwd: '/srv' },
    trace: { traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`, tracestate: 'a=1' },
  })
  everything.start('hi', {
    cwd: '/project',
    folders: ['/more'],
    mcpServers: [{ name: 'a', type: 'stdio', command: ['serve'], env: {} }],
    options: { systemPrompt: 'Be nice.', model: 'm2', effort: 'high', outputSchema: '{"type":"object"}' },
    clientTools: [{ name: 'weather', schema: '{"type":"object"}' }],
    history: [
      { role: 'system', parts: [{ type: 'text', text: 'a' }] },
      { role: 'assistant', parts: [{ type: 'text', text: 'b' }] },
    ],
    input: [
      { type: 'text', text: 'look' },
      { type: 'image', base64: 'AAAA' },
      { type: 'audio', base64: 'AAAA' },
    ],
  })
  everything.answer('thread/start', { thread: { id: 'th' } })
  everything.answer('thread/inject_items', {})
  everything.answer('turn/start', { turn: { id: 'u1' } })
  const steer = { type: 'turn-steer', exchange: 'x2', target: 'running', input: [{ type: 'text', text: 'x' }] } as const
  everything.link.encode(steer)
  everything.link.encode({ type: 'turn-cancel', exchange: 'x3', target: 'running' })
  everything.link.encode({ type: 'query', exchange: 'x4', what: 'models' })
  everything.link.encode({ type: 'session-delete', exchange: 'x5', id: 'g', session: { bound: 'th' } })
  const resumed = greeted()
  resumed.start('hi', { session: { id: 's', bound: 'old' } })
  const compact = running()
  compact.completed()
  compact.start('', { turn: 't2', task: 'compact' })
  return [everything, resumed, compact].flatMap((agent) => agent.sentNow())
}

describeLarge('what is written to Codex, by the schema that it generates', [CLI], () => {
  let folder: string
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true })
  const read = (name: string): Schema => JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as Schema
  const methods = (name: string): string[] => read(name).oneOf.map(({ properties }) => properties.method.enum[0]!)

  /** The differences between a value and its schema, in words. */
  const drift = (what: string, schema: object, value: unknown): string[] => {
    const check = ajv.compile(schema)
    if (check(value)) return []
    return check.errors!.map(({ instancePath, message }) => `${what}${instancePath} ${message}`)
  }

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-codex-schema-'))
    const args = [CLI, 'app-server', 'generate-json-schema', '--experimental', '--out', folder]
    execFileSync(process.execPath, args, { env: { ...process.env, CODEX_HOME: folder }, stdio: 'ignore' })
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('requests and notifications', () => {
    const { oneOf, ...whole } = read('ClientRequest')
    const found = written().flatMap((message) => {
      if (message.id === undefined) return drift('a notification', read('ClientNotification'), message)
      const schema = oneOf.find(({ properties }) => properties.method.enum[0] === message.method)
      if (!schema) return [`Codex has no method ${message.method} any more`]
      return drift(message.method!, { ...whole, ...schema }, message)
    })
    expect(found).toEqual([])
  })

  test('answers', () => {
    const rule = { acceptWithExecpolicyAmendment: { execpolicy_amendment: ['ls'] } }
    const network = { applyNetworkPolicyAmendment: { network_policy_amendment: { host: 'a.org', action: 'deny' } } }
    const offered = { availableDecisions: ['accept', 'acceptForSession', rule, network, 'cancel'] }
    const words = ['accept', 'acceptForSession', 'decline', 'cancel']
    const permissions = { network: { enabled: true }, fileSystem: null }
    const cases: [method: string, params: object, replies: AskReply[]][] = [
      [
        'item/commandExecution/requestApproval',
        offered,
        [...words, 'acceptWithExecpolicyAmendment', 'applyNetworkPolicyAmendment'].map(choice),
      ],
      ['item/fileChange/requestApproval', {}, words.map(choice)],
      ['item/permissions/requestApproval', { permissions }, ['turn', 'session', 'decline'].map(choice)],
      [
        'item/tool/requestUserInput',
        { questions: [{ id: 'q', question: 'Why?' }] },
        [{ kind: 'input', values: '{"q":"so"}' }],
      ],
      [
        'mcpServer/elicitation/request',
        { message: 'Name?' },
        ['{"n":1}', '{}'].map((values) => ({ kind: 'input', values })),
      ],
      [
        'item/tool/call',
        {},
        [
          {
            kind: 'tool',
            status: 'ok',
            parts: [
              { type: 'text', text: 'sunny' },
              { type: 'image', url: 'https://x/y.png' },
              { type: 'audio', url: 'https://x/y.wav' },
            ],
          },
        ],
      ],
    ]
    expect(cases.map(([method]) => method).sort()).toEqual(Object.keys(READERS).sort())
    const found = cases.flatMap(([method, params, replies]) =>
      answers(method, params, replies).flatMap((result) =>
        drift(`the answer to ${method}`, read(ANSWERS[method]!), result),
      ),
    )
    expect(found).toEqual([])
  })

  test('every request of Codex is known, every notification that is read exists', () => {
    expect(methods('ServerRequest').sort(), 'requests that Codex may send').toEqual(
      [...Object.keys(READERS), ...REFUSED].sort(),
    )
    const sent = new Set(methods('ServerNotification'))
    const others = ['turn/started', 'turn/completed', 'serverRequest/resolved', 'warning', 'configWarning']
    expect([...Object.keys(NOTES), ...others].filter((method) => !sent.has(method))).toEqual([])
  })
})
