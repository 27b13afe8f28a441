import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../kit/gateway.ts'
import { type Answered, MODELS, type ModelProtocol, type Script } from '../../kit/models/index.ts'
import { type RawAnswer, type RawServer, startRawServer } from '../../kit/raw-server.ts'

/**
 * Every way in which the answer of a server can end, in front of every protocol of models and behind every one: cut at
 * each of its frames, on a connection that ends or breaks, with an error or rubbish at each of its places. Where the
 * answer was not whole, the client reads an error in its own protocol, and no call to run.
 */
const SCRIPTS: Readonly<Record<string, Script>> = {
  text: { pieces: [{ reasoning: 'Hm.' }, { text: 'Let me ' }, { text: 'see.' }], usage: { input: 7, output: 3 } },
  'a call': {
    pieces: [{ text: 'Let me see.' }, { call: { id: 'c1', name: 'add', args: '{"a":1}' } }],
    stop: 'tools',
  },
}
const ERROR = { status: 500, code: 'overloaded_error', message: 'It broke.' }
const RUBBISH = 'data: oops\n\n'

/** What the frame has that is the end of an answer: what follows it is not needed. */
const END: Readonly<Record<string, RegExp>> = {
  chat: /"finish_reason":"/,
  responses: /response\.completed/,
  messages: /"stop_reason":"/,
}

/** What a client reads: an error, with the calls that it would run all the same, or the text and the end of an answer. */
type Read = ['an error', calls: number] | [text: string, stop: string | undefined, calls: number]

function reading({ text, stop, calls, error }: Answered): Read {
  // An answer that only breaks off is no error that every client sees.
  if (error) return error.code === 'cut' ? ['cut', undefined, 0] : ['an error', calls.length]
  return [text, stop, calls.length]
}

type Ending = [what: string, answer: RawAnswer, read: 'whole' | 'error']

/** The ways in which a server can end its answer, with what a client is to read of each. */
function endings(back: string, script: Script): Ending[] {
  const protocol = MODELS[back]!
  const frames = protocol.frames(script)
  const last = frames.findIndex((frame) => END[back]!.test(frame))
  const cut = protocol.frames({ ...script, error: ERROR }).find((frame) => frame.includes(ERROR.message))!
  const whole = JSON.stringify(protocol.whole(script))
  return [
    ...frames.flatMap((_, at): Ending[] => {
      const said = frames.slice(0, at).join('')
      const isWhole = at > last ? 'whole' : 'error'
      return [
        [`${at} frames`, { body: said }, isWhole],
        [`${at} frames and a break`, { body: said, cut: true }, 'error'],
        [`${at} frames and half of one`, { body: said + frames[at]!.slice(0, -9), cut: true }, 'error'],
        [`${at} frames and an error`, { body: said + cut }, 'error'],
        [`${at} frames, rubbish and the rest`, { body: said + RUBBISH + frames.slice(at).join('') }, 'error'],
      ]
    }),
    ['all frames', { body: frames.join('') }, 'whole'],
    ...(script.stop === undefined ? withoutFrames(protocol, whole) : []),
  ]
}

/** Answers that are no stream. */
function withoutFrames(protocol: ModelProtocol, whole: string): Ending[] {
  const json = (body: string, more: object = {}): RawAnswer => ({ type: 'application/json', body, ...more })
  return [
    ['one piece', json(whole), 'whole'],
    ['one piece that is cut', json(whole.slice(0, -5), { cut: true }), 'error'],
    ['half of one piece', json(whole.slice(0, -5)), 'error'],
    ['no JSON', json('oops'), 'error'],
    ['an empty object', json('{}'), 'error'],
    ['nothing', json(''), 'error'],
    ...[204, 302, 401, 404, 408, 429, 500, 503].map(
      (status): Ending => [
        `the status ${status}`,
        json(status === 204 ? '' : JSON.stringify(protocol.errorBody(ERROR)), { status }),
        'error',
      ],
    ),
    ['a failing status in HTML', { status: 502, type: 'text/html', body: '<html>Bad gateway</html>' }, 'error'],
    ['a page of HTML', { type: 'text/html', body: '<html>Welcome</html>' }, 'error'],
  ]
}

const fronts = Object.entries(MODELS)
const FORMS = [
  ['whole', false],
  ['streamed', true],
] as const

describe.each(Object.keys(MODELS))('behind %s', (back) => {
  let server: RawServer
  let gateway: TestGateway

  beforeAll(async () => {
    server = await startRawServer()
    gateway = await startGateway(`agents: { model: { ${MODELS[back]!.agent(server.url)}, model: scripted } }`)
  })
  afterAll(async () => {
    await gateway.close()
    await server.close()
  })

  async function ask(client: ModelProtocol, stream: boolean): Promise<Read> {
    const tools = [{ name: 'add', description: 'Adds.', parameters: { type: 'object' } }]
    const asked = { model: 'model', messages: [{ role: 'user' as const, text: 'hi' }], tools, stream }
    const answer = await fetch(gateway.url + client.path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...client.headers },
      body: JSON.stringify(client.write(asked)),
    })
    return reading(client.read(await answer.text()))
  }

  describe.each(fronts)('in front of %s', (_front, client) => {
    describe.each(FORMS)('%s', (_form, stream) => {
      test.each(Object.entries(SCRIPTS))('an answer of %s', async (_name, script) => {
        const text = script.pieces!.map((piece) => ('text' in piece ? piece.text : '')).join('')
        const calls = script.stop === 'tools' ? 1 : 0
        const found: unknown[] = []
        const all = endings(back, script)
        for (const [what, answer] of all) {
          server.answers(answer)
          found.push([what, await ask(client, stream)])
        }
        const expected = all.map(([what, , read]) => [
          what,
          read === 'whole' ? [text, script.stop ?? 'end', calls] : ['an error', 0],
        ])
        expect(found).toEqual(expected)
      })
    })
  })
})
