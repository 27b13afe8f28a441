import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RECORDINGS } from '../kit/recordings.ts'
import { distinct, linesOf, type Replayed, type Row, recordings, replayGateway } from './recorded.ts'

type Frame = Record<string, unknown>

describe('recorded clients are answered', () => {
  let gateway: Replayed
  beforeAll(async () => {
    gateway = await replayGateway()
  })
  afterAll(() => gateway?.close())

  const zotClients = recordings('zot', 'client-')
  // This agent has no other model and cannot compact.
  const simple = zotClients.filter(({ rows }) => !/"type":"(set_model|compact)"/.test(linesOf(rows, 'in').join()))

  describe.each([
    { agent: 'coder', clients: zotClients },
    { agent: 'helper', clients: simple },
  ])('of zot, by $agent', ({ agent, clients }) => {
    test.each(clients)('$file', async ({ file, rows }) => {
      const standIn = gateway.start(['zot', '--agent', agent, ...argumentsOf(file)])
      const of = (kind: string) => standIn.objects.filter(({ type }) => type === kind)
      const read: Record<string, number> = { response: 0, done: 0, compact_done: 0 }
      for (const { dir, line } of rows) {
        if (dir === 'in') standIn.write(line)
        else if (dir === 'out') {
          // The client went on when it had read this.
          const { type } = JSON.parse(line) as { type: string }
          if (type in read) read[type]! += 1
          await standIn.until(() => Object.entries(read).every(([kind, count]) => of(kind).length >= count))
        }
      }
      standIn.end()
      expect(await standIn.ended()).toBe(0)

      const asked = linesOf(rows, 'in').map((line) => JSON.parse(line) as Frame)
      const refused = refusedIn(rows)
      expect(of('response').map(({ id, command }) => [id, command])).toEqual(asked.map(({ id, type }) => [id, type]))
      for (const { id, command, success } of of('response')) {
        // Which models there are is the agent's own.
        if (!refused.has(id) && command !== 'set_model') expect([id, success]).toEqual([id, true])
      }
      expect(of('done')).toHaveLength(asked.filter(({ type }) => type === 'prompt' || type === 'compact').length)
      expect(of('compact_done')).toHaveLength(asked.filter(({ type }) => type === 'compact').length)
      expect(of('error')).toEqual([])
    })
  })

  describe('of Zene', () => {
    const bridges = recordings('clawbridge').filter(({ rows }) => linesOf(rows, 'in').length > 0)
    const kinds = distinct(bridges, ({ rows }) =>
      linesOf(rows, 'in')
        .join('\n')
        .replace(/[0-9a-f-]{36}/g, 'id'),
    )

    test.each(kinds)('$file', async ({ rows }) => {
      for (const line of linesOf(rows, 'in')) {
        const { request_id, session_id, prompt } = JSON.parse(line) as Record<string, string>
        const standIn = gateway.start(['zene', 'host', '--protocol', 'v1', '--bridge-compat'])
        standIn.write(line)
        standIn.end()
        expect(await standIn.ended()).toBe(0)
        if (session_id!.trim() === '') {
          expect(standIn.objects).toMatchObject([{ ok: false, request_id, session_id, error_code: 'INVALID_REQUEST' }])
          continue
        }
        expect(standIn.objects).toMatchObject([
          { ok: true, request_id, session_id, error_code: null, error_message: null },
        ])
        expect(standIn.objects[0]!['text']).toContain(prompt)
        expect(standIn.objects[0]!['usage']).toMatchObject({ total_tokens: expect.any(Number) })
      }
    })
  })

  describe('of AgentProc 0.1', () => {
    const variables = (rows: readonly Row[]) => linesOf(rows, 'env').filter((line) => line.startsWith('AGENT_'))
    const runners = recordings('agentproc-0.1').filter(({ rows }) => variables(rows).length > 0)
    const kinds = distinct(runners, ({ rows }) => JSON.stringify([variables(rows), linesOf(rows, 'in')]))

    test.each(kinds)('$file', async ({ rows }) => {
      const env = Object.fromEntries(
        variables(rows).map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
      )
      const input = linesOf(rows, 'in')
      const standIn = gateway.start(['agentproc'], env)
      for (const line of input) standIn.write(line)
      // A runner that forwards its own stdin may never end it.
      if (input.length > 0 || env['AGENT_MESSAGE'] === undefined) standIn.end()
      const code = await standIn.ended()
      const lines = standIn.stdout.split('\n').slice(0, -1)
      const message = env['AGENT_MESSAGE'] ?? input.join('\n')
      if (message === '' && !env['AGENT_IMAGE_URL'] && !env['AGENT_FILE_URL']) {
        expect([lines.length, lines[0]?.startsWith('AGENT_ERROR:'), code]).toEqual([1, true, 1])
        return
      }
      expect(code).toBe(0)
      expect(lines.filter((line) => line.startsWith('AGENT_ERROR:'))).toEqual([])
      expect(lines.filter((line) => line.startsWith('AGENT_SESSION:'))).toHaveLength(1)
      const partials = lines.flatMap((line) => (line.startsWith('AGENT_PARTIAL:') ? line.slice(14) : []))
      const body = lines.filter((line) => !/^AGENT_(PARTIAL|SESSION):/.test(line)).join('\n')
      const text = partials.map((json) => JSON.parse(json) as string).join('')
      expect(env['AGENT_STREAMING'] === '1' ? text : body).toContain(`You said: ${message}`)
      expect(env['AGENT_STREAMING'] === '1' ? body : text).toBe('')
    })
  })

  describe('of AgentProc 0.4', () => {
    const runners = recordings('agentproc-0.4').filter(({ rows }) => linesOf(rows, 'in').length > 0)
    const kinds = distinct(runners, ({ rows }) => JSON.stringify([linesOf(rows, 'in'), closes(rows)]))

    test.each(kinds)('$file', async ({ rows }) => {
      const input = linesOf(rows, 'in')
      const standIn = gateway.start(['agentproc'])
      for (const line of input) standIn.write(line)
      if (closes(rows)) standIn.end()
      const code = await standIn.ended()
      const turn = JSON.parse(input[0]!) as { message: string; attachments?: object[] }
      const endings = standIn.objects.filter(({ type }) => type === 'result' || type === 'error')
      expect(endings).toHaveLength(1)
      expect(standIn.objects.at(-1)).toEqual(endings[0])
      const empty = turn.message === '' && !turn.attachments?.length
      expect([endings[0]!['type'], code]).toEqual(empty ? ['error', 1] : ['result', 0])
      if (!empty) expect(endings[0]!['text']).toContain(`You said: ${turn.message}`)
    })
  })
})

/** Whether the runner ended the agent's input. */
function closes(rows: readonly Row[]): boolean {
  return linesOf(rows, 'note').includes('stdin EOF') || !linesOf(rows, 'in')[0]!.includes('"permission"')
}

/** Ids of the requests that were refused when they were recorded. */
function refusedIn(rows: readonly Row[]): Set<unknown> {
  const frames = linesOf(rows, 'out').map((line) => JSON.parse(line) as Frame)
  return new Set(frames.filter(({ type, success }) => type === 'response' && !success).map(({ id }) => id))
}

/** The arguments that a recorded client started zot with. */
function argumentsOf(file: string): string[] {
  const index = JSON.parse(readFileSync(join(RECORDINGS, 'zot/index.json'), 'utf8')) as {
    file: string
    args: string[]
  }[]
  return index.find((entry) => entry.file === file)!.args
}
