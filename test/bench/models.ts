/** Lines of clients of models through to servers of models, and of agents that speak ACP. */

import { MARK } from './answers.ts'
import type { Bench, Group, Server } from './bench.ts'
import { EVENTS } from './gateway.ts'
import { load, type Measured } from './load.ts'
import type { ModelApi } from './model-answers.ts'
import { cpuPerTurn, line, perSecond, run, type Shape, SSE, sessionsOf } from './turns.ts'

/** The numbers of turns at once: whole ones, and those that stream. Both warm up in a long first round. */
const WHOLE = 32
const STREAMS = 32

const LIMITED = {
  whole:
    'the proxy passes bytes on; here both bodies are read, the turn is kept, and the answer is streamed from the server',
  stream:
    'half of it is what a turn costs whatever it says: two requests, two codecs, its record, the garbage of all that. They ' +
    'were 2.8, 4.6 and 4.1 before the pieces of text of one read were taken together',
  acp: 'the same as of other streamed turns',
} as const

/** The paths of the APIs after the address of a server. */
const PATHS: Readonly<Record<ModelApi, string>> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
}

/** The server of models that all of these lines have. */
export function modelServer(bench: Bench): Promise<Server> {
  return bench.server('model server', 'limits/model.ts', [String(EVENTS)])
}

/** The gateway in front of it. */
export async function modelGateway(bench: Bench): Promise<Server> {
  const { port } = await modelServer(bench)
  return bench.gateway('of models', { models: port })
}

/** A load of turns of an API on a server, whole or streamed. */
export function askModel(
  bench: Bench,
  server: Server,
  api: ModelApi,
  streams: boolean,
  headers: Readonly<Record<string, string>> = {},
): Promise<Measured> {
  const width = streams ? STREAMS : WHOLE
  const shape: Shape = { path: PATHS[api], kind: streams ? `${api}-stream` : api, headers }
  const sessions = sessionsOf(shape)
  // Whole turns come first and run nearly all that streams do.
  const length = bench.lengthFor(server, sessions, width, streams)
  const job = { ...shape, port: server.port, width, ...length, text: streams ? 'long' : 'go', mark: MARK }
  return load(server.pid, { ...job, sessions })
}

function models(api: ModelApi): Group {
  const what = `${api} client to a server of ${api}, HTTP to HTTP`
  return {
    name: `${api}-model`,
    lines: [
      line({
        name: `${api}-model`,
        what: `${what}, whole turn, ${WHOLE} at once: turns/s`,
        unit: '/s',
        against: 'proxy',
        budget: 0.35,
        bound: 'least',
        limitedBy: LIMITED.whole,
      }),
      line({
        name: `${api}-model-stream`,
        what: `${what}, streamed turn of ${EVENTS} events, ${STREAMS} at once: CPU per event`,
        unit: 'µs',
        against: 'relay',
        budget: 2.2,
        bound: 'most',
        limitedBy: LIMITED.stream,
      }),
    ],
    async round(bench) {
      const { port } = await modelServer(bench)
      const proxy = await bench.server('model proxy', 'limits/proxy.ts', [String(port)])
      const gateway = await modelGateway(bench)
      const limit = await askModel(bench, proxy, api, false)
      const figure = await askModel(bench, gateway, api, false)
      const relay = await bench.server('model relay', 'limits/relay.ts', [String(port)])
      const streamLimit = await askModel(bench, relay, api, true)
      const stream = await askModel(bench, gateway, api, true)
      return {
        [`${api}-model`]: { figure: perSecond(figure), limit: perSecond(limit) },
        [`${api}-model-stream`]: { figure: cpuPerTurn(stream) / EVENTS, limit: cpuPerTurn(streamLimit) / EVENTS },
      }
    },
  }
}

const acp: Group = {
  name: 'acp-32',
  lines: [
    line({
      name: 'acp-32',
      what: `streamed turn of ${EVENTS} events, native SSE to a warm ACP process, ${STREAMS} at once: CPU per event`,
      unit: 'µs',
      budget: 2.2,
      bound: 'most',
      limitedBy: LIMITED.acp,
    }),
  ],
  async round(bench) {
    const bridge = await bench.server('stream bridge', 'limits/bridge.ts', ['/bin/sh', ...bench.workshop.stream])
    const limit = await run(bench, bridge, { path: '/', kind: 'zene', headers: SSE }, STREAMS)
    const figure = await run(
      bench,
      await modelGateway(bench),
      { path: '/v1/turns/acp', kind: 'native', headers: SSE },
      STREAMS,
    )
    return { 'acp-32': { figure: cpuPerTurn(figure) / EVENTS, limit: cpuPerTurn(limit) / EVENTS } }
  },
}

/** All groups of this file. */
export const MODELS: readonly Group[] = [...(['chat', 'responses', 'messages'] as const).map(models), acp]
