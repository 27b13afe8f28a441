import dns from 'node:dns'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askHttp, type Shown } from '../kit/clients.ts'
import { startGateway, type TestGateway } from '../kit/gateway.ts'
import { until } from '../kit/processes.ts'
import { ANSWER, inLanes, turnsOf } from './kit.ts'
import { CELLS, type Form, LASTING, type OddEngine, REUSED, startOddEngine } from './odd-engine.ts'
import { keepOutcomes, keptOutcomes, type Outcomes, wordsFor } from './outcomes.ts'

/**
 * Every way of an engine to misbehave × both forms of its answer: a turn has the named outcome of
 * `engine-outcomes.json`, one end, and the session goes on. `ACCEPT=1` rewrites the file.
 */
const ACCEPT = process.env['ACCEPT'] === '1'
const KEPT = keptOutcomes('engine-outcomes')

type Cell = (typeof CELLS)[number]

const agentOf = ({ behaviour, form }: Cell): string => `${form}.${behaviour}`
const sessionOf = (cell: Cell): string => agentOf(cell).replaceAll('.', '-')
const fails = ({ behaviour }: Cell): boolean => LASTING.includes(behaviour)

/** Only a limit shows that the answer is whole. */
const NEEDS_A_LIMIT: readonly string[] = ['no-last-chunk-and-open', 'length-too-long-and-open']

/** Whether its turn has to run into a limit: it has a short one. */
const isEndless = ({ behaviour, form }: Cell): boolean =>
  NEEDS_A_LIMIT.includes(behaviour) || KEPT[behaviour]?.[form]?.startsWith('timeout') === true
/** Silence ends a turn only where a stream was begun: nothing else may end it before the test fails. */
const isSilentStream = ({ behaviour, form }: Cell): boolean =>
  form === 'streamed' && ['comments-for-ever', 'half-then-nothing', 'headers-then-nothing'].includes(behaviour)

function limitsOf(cell: Cell): string {
  if (!isEndless(cell)) return ''
  if (isSilentStream(cell)) return 'limits: { firstEvent: 500ms, idle: 500ms, total: 300s }, '
  return 'limits: { total: 4s }, '
}

/** The resolver of this machine, which never answers for one name. */
const lookup = dns.lookup
const halting = (...args: Parameters<typeof lookup>): void => {
  if (args[0] !== 'never-resolved.invalid') lookup(...args)
}

describe('an engine that misbehaves', { timeout: 120_000 }, () => {
  let gateway: TestGateway
  let engine: OddEngine
  const results = new Map<Cell, Promise<[Shown, Shown]>>()
  const seen: Outcomes = {}

  beforeAll(async () => {
    dns.lookup = Object.assign(halting, lookup)
    engine = await startOddEngine()
    const lines = CELLS.map((cell) => {
      const streaming = cell.form === 'streamed' ? 'streaming: true, ' : ''
      const more = 'headers: { Authorization: "Bearer canary" }, breaker: { failures: 1000 }'
      return `  ${agentOf(cell)}: { protocol: openharness, url: "${engine.url(cell.behaviour)}", ${streaming}${limitsOf(cell)}${more} }\n`
    })
    gateway = await startGateway(`
default: ${agentOf(CELLS[0]!)}
limits: { firstEvent: 60s, idle: 60s, total: 60s, grace: 200ms }
agents:
${lines.join('')}`)
    const waiting = inLanes(
      8,
      CELLS.map((cell) => () => converse(cell)),
    )
    for (const [at, cell] of CELLS.entries()) results.set(cell, waiting[at]!)
  })
  afterAll(async () => {
    await gateway.close()
    engine.close()
    dns.lookup = lookup
    if (ACCEPT) keepOutcomes(seen, 'engine-outcomes')
  })

  /** A turn with the engine that misbehaves, and one behind it that is answered well wherever it gets through. */
  async function converse(cell: Cell): Promise<[Shown, Shown]> {
    const asked = { session: sessionOf(cell), agent: agentOf(cell) }
    const ask = (text: string) => askHttp(gateway.url, 'native', { ...asked, text, id: `${asked.session}-${text}` })
    if (REUSED.includes(cell.behaviour)) await askHttp(gateway.url, 'native', { ...asked, session: '', text: 'behave' })
    return [await ask('go'), await ask('behave')]
  }

  test.each(CELLS.map((cell) => [cell.behaviour, cell.form, cell] as const))(
    '%s, %s',
    async (behaviour, form: Form, cell) => {
      const [first, next] = await results.get(cell)!
      const answer = JSON.parse(first.raw) as { turn: string; losses?: { kind: string; count: number }[] }
      const store = join(gateway.folder, 'turnpike.db')
      const kept = () => turnsOf(store, sessionOf(cell)).find(({ turn }) => turn === answer.turn)!
      await until(() => kept().outcome !== null)
      const { outcome, code, ends, endsLast } = kept()
      const lost = (answer.losses ?? []).filter(({ kind }) => kind === 'unparsed')
      const unparsed = lost.reduce((sum, { count }) => sum + count, 0)
      const words = wordsFor({ outcome, code, text: first.text, unparsed })
      seen[behaviour] = { ...seen[behaviour], [form]: words }
      const raw = first.raw.slice(0, 500)
      expect({ words, ends, endsLast, raw }).toEqual({
        words: ACCEPT ? words : KEPT[behaviour]?.[form],
        ends: 1,
        endsLast: true,
        raw,
      })
      expect(raw).not.toContain('canary')
      expect({ ok: next.ok, text: next.text, raw: next.raw }).toEqual(
        fails(cell) ? { ok: false, text: '', raw: next.raw } : { ok: true, text: ANSWER, raw: next.raw },
      )
    },
  )

  test('has no outcome that nothing is tried for', () => {
    const named = Object.entries(KEPT).flatMap(([behaviour, by]) =>
      Object.keys(by).map((form) => `${behaviour} ${form}`),
    )
    const tried = CELLS.map(({ behaviour, form }) => `${behaviour} ${form}`)
    expect(ACCEPT ? [] : named.sort()).toEqual(ACCEPT ? [] : tried.sort())
  })

  test('is never followed to where it points', async () => {
    await Promise.allSettled(results.values())
    expect(engine.strays()).toBe(0)
    expect([...gateway.engine.turns]).toEqual([])
  })
})
