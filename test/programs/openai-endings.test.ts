import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../kit/gateway.ts'
import { type RawAnswer, type RawServer, startRawServer } from '../kit/raw-server.ts'
import { badAgents, describeWith } from './kit.ts'
import { CLIENTS, FILES } from './openai-clients.ts'

/**
 * What official clients report for each way in which the stream of a server, or the work of an agent, can end. Straight
 * from the server some take half an answer for a whole one; behind the gateway none reports a success that was none.
 */
const data = (json: unknown): string => `data: ${JSON.stringify(json)}\n\n`
const chunk = (delta: object, finish_reason: string | null = null): string =>
  data({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason }],
  })
const TEXT = chunk({ role: 'assistant', content: '' }) + chunk({ content: 'Hel' }) + chunk({ content: 'lo.' })
const DONE = 'data: [DONE]\n\n'
const ERROR = data({ error: { message: 'Overloaded.', type: 'server_error', code: 'overloaded' } })
const call = (more: object) =>
  chunk({ tool_calls: [{ index: 0, type: 'function', function: { name: 'add', arguments: '{"a":1}' }, ...more }] })

/** The reports: an error, or text and reason of an answer, with the number of calls to run. */
type Report = 'an error' | [text: string, finish: string, calls: number]

const ENDINGS: Readonly<Record<string, [RawAnswer, Report]>> = {
  'as it should': [{ body: TEXT + chunk({}, 'stop') + DONE }, ['Hello.', 'stop', 0]],
  'without [DONE]': [{ body: TEXT + chunk({}, 'stop') }, ['Hello.', 'stop', 0]],
  'with comments between': [{ body: `: ping\n\n${TEXT}: ping\n\n${chunk({}, 'stop')}${DONE}` }, ['Hello.', 'stop', 0]],
  'at its limit of tokens': [{ body: TEXT + chunk({}, 'length') + DONE }, ['Hello.', 'length', 0]],
  'at a filter': [{ body: TEXT + chunk({}, 'content_filter') + DONE }, ['Hello.', 'content_filter', 0]],
  'twice, with more text between': [
    { body: TEXT + chunk({}, 'stop') + chunk({ content: ' Bye.' }) + chunk({}, 'length') + DONE },
    ['Hello. Bye.', 'stop', 0],
  ],
  'with a call': [{ body: TEXT + call({ id: 'a' }) + chunk({}, 'tool_calls') + DONE }, ['Hello.', 'tool_calls', 1]],
  'with a call without an id': [{ body: call({}) + chunk({}, 'tool_calls') + DONE }, ['', 'tool_calls', 1]],
  'with a call, text behind it, and a second end': [
    { body: call({ id: 'a' }) + chunk({}, 'tool_calls') + chunk({ content: 'Hello.' }) + chunk({}, 'stop') + DONE },
    ['Hello.', 'tool_calls', 1],
  ],
  'with nothing at all': [{ body: '' }, 'an error'],
  'without a finish reason': [{ body: TEXT }, 'an error'],
  'with [DONE] alone': [{ body: TEXT + DONE }, 'an error'],
  'with a cut connection': [{ body: TEXT, cut: true }, 'an error'],
  'in the middle of a chunk': [{ body: `${TEXT}data: {"choi`, cut: true }, 'an error'],
  'with an error before its text': [{ body: ERROR }, 'an error'],
  'with an error behind its text': [{ body: TEXT + ERROR + DONE }, 'an error'],
  'with an error behind its end': [{ body: TEXT + chunk({}, 'stop') + ERROR }, 'an error'],
  'with the finish reason "error"': [{ body: TEXT + chunk({}, 'error') + DONE }, 'an error'],
  'with something that is no chunk': [{ body: `${TEXT}data: oops\n\n${chunk({}, 'stop')}${DONE}` }, 'an error'],
  'with a failing status': [
    { status: 500, type: 'application/json', body: '{"error":{"message":"Broken."}}' },
    'an error',
  ],
}
const AGENTS = badAgents('1017')
const FORMS = [
  ['whole', false],
  ['streamed', true],
] as const

describeWith('endings as clients of OpenAI’s Chat Completions see them', FILES, () => {
  let server: RawServer
  let gateway: TestGateway
  const names = Object.fromEntries(Object.keys(AGENTS).map((way, at) => [way, `agent-${at}`]))

  beforeAll(async () => {
    server = await startRawServer()
    const agents = Object.entries(AGENTS).map(([way, line]) => `  ${names[way]}: { ${line} }\n`)
    gateway = await startGateway(`agents:\n  server: { protocol: openai, url: "${server.url}/v1" }\n${agents.join('')}`)
  })
  afterAll(async () => {
    await gateway?.close()
    await server?.close()
  })

  async function report(name: string, url: string, model: string, stream: boolean): Promise<Report> {
    const client = await CLIENTS[name]!({ url })
    const asked = { model, prompt: 'hi', stream, tools: { add: { type: 'object', properties: {} } } }
    return client.ask(asked).then(
      ({ text, finish, calls }): Report => [text, String(finish), calls.length],
      () => 'an error',
    )
  }

  describe.each(Object.keys(CLIENTS))('%s', (name) => {
    describe.each(FORMS)('%s', (_form, stream) => {
      test.each(Object.entries(ENDINGS))('a server ends %s', async (_way, [answer, expected]) => {
        server.answers(answer)
        expect(await report(name, gateway.url, 'server', stream)).toEqual(expected)
      })

      test.each(Object.keys(AGENTS))('an agent %s', async (way) => {
        expect(await report(name, gateway.url, names[way]!, stream)).toEqual('an error')
      })
    })
  })

  test('half of an answer, straight from the server, is a whole one for some of them', async () => {
    server.answers({ body: TEXT })
    const reports = await Promise.all(Object.keys(CLIENTS).map((name) => report(name, server.url, 'server', true)))
    expect(reports.map((one) => one === 'an error')).toEqual([false, true, true, false])
  })
})
