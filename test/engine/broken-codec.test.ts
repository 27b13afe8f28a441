import { afterAll, beforeAll, expect, test } from 'vitest'
import { codec as zene } from '../../codecs/zene/index.ts'
import { type AnyCodec, asFront, type ClientSink } from '../../src/contract/index.ts'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway(`default: helper\nagents:${EXAMPLE_AGENTS}`)
})
afterAll(() => gateway.close())

test('a codec that throws in spite of its contract takes down its own wire alone', async () => {
  const [name, dialect] = Object.entries(zene.dialects)[0]!
  const broken: AnyCodec = {
    ...zene,
    dialects: {
      [name]: {
        ...dialect,
        front: {
          ...dialect.front!,
          open: () => ({
            decode() {
              throw new Error('a mistake of ours')
            },
            encode() {},
            encodeFault() {},
          }),
        },
      },
    },
  }
  await new Promise<void>((aborted) => {
    const sink: ClientSink = {
      head() {},
      write: () => true,
      whenRead: (callback) => callback(),
      warn() {},
      end() {},
      abort: aborted,
    }
    const client = gateway.engine.client({
      front: { name: 'zene', codec: broken, dialect: asFront(broken.dialects[name]) },
      context: { transport: 'http', method: 'POST', path: '/v1/zene', query: '', headers: {}, argv: [], env: {} },
      input: 'ndjson',
      sink,
      carrier: {},
      access: { tenant: 'local', role: 'user' },
    })
    client.open()
    client.push('{}\n')
  })
  expect(gateway.logged).toEqual(['the codec of a client failed {"front":"zene","error":"Error: a mistake of ours"}'])
})
