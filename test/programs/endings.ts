import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../kit/gateway.ts'
import { type RawAnswer, type RawServer, startRawServer } from '../kit/raw-server.ts'
import { badAgents, describeWith } from './kit.ts'
import type { Client, Place } from './openai-clients.ts'

/** The reports: an error, or the text of an answer and the reason of its end, with the number of calls to run. */
export type Report = 'an error' | [text: string, finish: string, calls: number]

/** The clients of one API, and how its servers can end a stream. */
export interface Endings {
  clients: Readonly<Record<string, (place: Place) => Promise<Client>>>
  /** The files of the clients. */
  files: readonly string[]
  /** The gateway's agent for a server at this URL, as YAML. */
  agent: (url: string) => string
  /** What tells the processes of these tests from those of others. */
  mark: string
  /** What a server answers, by how it ends, and what every client has to report of it. */
  ways: Readonly<Record<string, readonly [RawAnswer, Report]>>
  /** The reason of an end as reports have it. Default: as the client gives it. */
  finish?: (given: string) => string
  /** Half of an answer, and what each client reports of it when it asks the server itself. */
  half?: { body: string; reports: readonly Report[] }
}

const FORMS = [
  ['whole', false],
  ['streamed', true],
] as const

/**
 * What official clients report for each way in which the stream of a server, or the work of an agent, can end. Straight
 * from the server some take half an answer for a whole one; behind the gateway none reports a success that was none.
 */
export function describeEndings(title: string, endings: Endings): void {
  const { clients, files, agent, mark, ways, finish: named = (given) => given, half } = endings
  const bad = badAgents(mark)
  const names = Object.fromEntries(Object.keys(bad).map((way, at) => [way, `agent-${at}`]))

  describeWith(title, files, () => {
    let server: RawServer
    let gateway: TestGateway

    beforeAll(async () => {
      server = await startRawServer()
      const agents = Object.entries(bad).map(([way, line]) => `  ${names[way]}: { ${line} }\n`)
      gateway = await startGateway(`agents:\n  server: { ${agent(server.url)} }\n${agents.join('')}`)
    })
    afterAll(async () => {
      await gateway?.close()
      await server?.close()
    })

    async function report(name: string, url: string, model: string, stream: boolean): Promise<Report> {
      const client = await clients[name]!({ url })
      const asked = { model, prompt: 'hi', stream, tools: { add: { type: 'object', properties: {} } } }
      return client.ask(asked).then(
        ({ text, finish, calls }): Report => [text, named(String(finish)), calls.length],
        () => 'an error',
      )
    }

    describe.each(Object.keys(clients))('%s', (name) => {
      describe.each(FORMS)('%s', (_form, stream) => {
        test.each(Object.entries(ways))('a server ends %s', async (_way, [answer, expected]) => {
          server.answers(answer)
          expect(await report(name, gateway.url, 'server', stream)).toEqual(expected)
        })

        test.each(Object.keys(bad))('an agent %s', async (way) => {
          expect(await report(name, gateway.url, names[way]!, stream)).toEqual('an error')
        })
      })
    })

    if (!half) return
    test('half of an answer, straight from the server, is a whole one for some of them', async () => {
      server.answers({ body: half.body })
      const reports = await Promise.all(Object.keys(clients).map((name) => report(name, server.url, 'server', true)))
      expect(reports).toEqual(half.reports)
    })
  })
}
