import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadCodec } from '../../codecs/index.ts'
import { asFront } from '../../src/contract/index.ts'
import { clientOf, type StdioClientName, stdioClientNames } from '../kit/clients.ts'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'

const AGENTS = join(import.meta.dirname, '../kit/agents')

/** Agents that would never end by themselves. */
const ENDLESS = `
  patient: { protocol: zot, command: ${process.execPath}, args: [${AGENTS}/patient-zot.mjs] }
  silent: { protocol: agentproc, command: ${AGENTS}/silent.sh, args: ["1004"] }
`

describe('a turn that is cancelled in the moment it is asked for', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway(`default: silent\nlimits: { grace: 300ms }\nagents:${EXAMPLE_AGENTS}${ENDLESS}`)
  })
  afterAll(() => gateway.close())

  /** A client on stdio that writes this and then does that, all in one step. Resolves with what it read. */
  async function inOneStep(
    front: StdioClientName,
    input: { argv: string[]; text: string; env?: Record<string, string> },
    agent: string,
    signal: boolean,
  ): Promise<string> {
    const [protocol, name] = front.split('@') as [string, string?]
    const codec = (await loadCodec(protocol))!
    const dialect = codec.dialects[name ?? Object.keys(codec.dialects)[0]!]!
    return new Promise((resolve) => {
      let read = ''
      const client = gateway.engine.client({
        front: { name: front, codec, dialect: asFront(dialect) },
        input: dialect.framing,
        context: {
          transport: 'stdio',
          method: '',
          path: '',
          query: '',
          headers: {},
          argv: input.argv,
          env: input.env ?? {},
        },
        sink: {
          head() {},
          whenRead: (callback: () => void) => callback(),
          write(text) {
            read += text
            return true
          },
          warn() {},
          end: () => resolve(read),
          abort: () => resolve(read),
        },
        carrier: {},
        access: { tenant: 'local', role: 'user', agent },
      })
      client.open()
      client.push(input.text)
      if (front === 'openharness') client.end('eof')
      if (signal) client.end('signal')
      else client.end('eof')
    })
  }

  for (const front of stdioClientNames) {
    test.each(['silent', 'patient'])(`by a signal: ${front} → %s`, async (agent) => {
      const client = clientOf(front)
      const asked = { text: 'wait', session: `signal-${front}-${agent}`, id: 'r1' }
      const env = client.env?.(asked)
      const text = env ? '' : client.write(asked)
      const read = await inOneStep(front, { argv: client.argv!.slice(1), text, ...(env && { env }) }, agent, true)
      // zot calls a cancelled prompt done, like any other; that nothing was said is what tells it.
      if (front === 'zot') expect(client.read(read, asked).text).toBe('')
      else expect(client.read(read, asked).ok).toBe(false)
      expect([...gateway.engine.turns]).toEqual([])
    })
  }

  test.each(['silent', 'patient'])('by the own verb of zot, in the same write: %s', async (agent) => {
    const text = '{"id":"1","type":"prompt","message":"wait"}\n{"id":"2","type":"abort"}\n'
    const read = await inOneStep('zot', { argv: ['rpc'], text }, agent, false)
    const frames = read
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(
      frames
        .filter(({ type }) => type === 'response')
        .map(({ id }) => id)
        .sort(),
    ).toEqual(['1', '2'])
    expect(frames.filter(({ type }) => type === 'done')).toHaveLength(1)
  })

  test.each(['silent', 'patient'])('by the own verb of Zene, in the same write: %s', async (agent) => {
    const run = { type: 'run', request_id: 'r1', session_id: `zene-${agent}`, prompt: 'wait' }
    const cancel = { type: 'cancel', request_id: 'r2', session_id: `zene-${agent}`, target_request_id: 'r1' }
    const text = `${JSON.stringify(run)}\n${JSON.stringify(cancel)}\n`
    const argv = ['host', '--protocol', 'v1', '--single-request', 'false']
    const read = await inOneStep('zene', { argv, text }, agent, false)
    const frames = read
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    const finals = frames.filter(({ type }) => type === 'final')
    expect(finals).toMatchObject([{ request_id: 'r1', status: 'CANCELED' }])
  })
})
