import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askHttp, type Shown } from '../kit/clients.ts'
import { startGateway, type TestGateway } from '../kit/gateway.ts'
import { until } from '../kit/processes.ts'
import { ANSWER, agentLine, agentName, BACKS, inLanes, ownProcesses, turnsOf } from './kit.ts'
import { type Cell, cells, isEndless, isOfItsOwn, isShared, promptOf } from './odd-cells.ts'
import { keepOutcomes, keptOutcomes, type Outcomes, wordsFor } from './outcomes.ts'

/**
 * Every way to misbehave × every protocol: a turn has the named outcome of `outcomes.json`, one end, and its session goes
 * on. `ACCEPT=1` rewrites the file. Where a process serves many turns, one session goes through all the behaviours.
 */
const ACCEPT = process.env['ACCEPT'] === '1'
const KEPT = keptOutcomes()
const CELLS = await cells()

/** Short only where a turn has to run into it; long enough for a busy machine to start a program. */
const IMPATIENT = 'limits: { start: 3s, firstEvent: 3s, idle: 1s },'
const COMMANDS: Readonly<Record<string, string>> = {
  'command-not-found': 'no-such-program-anywhere',
  'command-not-executable': './not-executable',
  'command-is-a-directory': './a-directory',
}

/** The agent that serves a cell: one of its own, or the one of its protocol, patient or not. */
function agentOf(cell: Cell): string {
  const { back, behaviour } = cell
  if (isOfItsOwn(cell)) return agentName(back, behaviour)
  return agentName(back, isEndless(cell, KEPT) ? 'impatient' : 'patient')
}

function lineOf(cell: Cell): string {
  const { back, behaviour } = cell
  const name = agentOf(cell)
  const command = COMMANDS[behaviour]
  if (command !== undefined) return `  ${name}: { ${BACKS[back]}, command: ${command}, args: [] }\n`
  const line = agentLine(back, isOfItsOwn(cell) ? behaviour : 'as-asked', isEndless(cell, KEPT) ? IMPATIENT : '')
  return line.replace(/^ {2}[^:]*:/, `  ${name}:`)
}

/** A session for all turns that one process serves, one for each turn elsewhere. */
function sessionOf(cell: Cell): string {
  const own = isShared(cell) ? agentOf(cell) : `${agentOf(cell)}-${cell.behaviour}`
  return own.replaceAll('.', '-')
}

describe('an agent that misbehaves', { timeout: 120_000 }, () => {
  let gateway: TestGateway
  const results = new Map<Cell, Promise<[Shown, Shown | undefined]>>()
  const seen: Outcomes = {}

  beforeAll(async () => {
    gateway = await startGateway(`
default: zot.patient
limits: { start: 60s, firstEvent: 60s, idle: 60s, total: 120s, grace: 200ms, answer: 40MiB }
agents:
${[...new Set(CELLS.map(lineOf))].join('')}`)
    mkdirSync(join(gateway.folder, 'a-directory'))
    writeFileSync(join(gateway.folder, 'not-executable'), '#!/bin/sh\n')
    chmodSync(join(gateway.folder, 'not-executable'), 0o644)
    const sessions = Object.values(Object.groupBy(CELLS, sessionOf)) as Cell[][]
    // Those that wait for a limit need no processor meanwhile.
    for (const [lanes, some] of [
      [4, sessions.filter(([first]) => !isEndless(first!, KEPT))],
      [24, sessions.filter(([first]) => isEndless(first!, KEPT))],
    ] as const) {
      const all = inLanes(
        lanes,
        some.map((session) => () => converse(session)),
      )
      for (const [at, session] of some.entries()) {
        for (const cell of session)
          results.set(
            cell,
            all[at]!.then((shown) => shown.get(cell)!),
          )
      }
    }
    for (const result of results.values()) result.catch(() => {})
  })
  afterAll(async () => {
    await gateway.close()
    if (ACCEPT) keepOutcomes(seen)
  })

  /** The turns of one session; where its process lives on, each with one behind it that is answered well. */
  async function converse(session: readonly Cell[]): Promise<Map<Cell, [Shown, Shown | undefined]>> {
    const shown = new Map<Cell, [Shown, Shown | undefined]>()
    for (const cell of session) {
      const asked = { session: sessionOf(cell), agent: agentOf(cell) }
      const id = `${asked.session}-${cell.behaviour}`
      const first = await askHttp(gateway.url, 'native', { ...asked, text: promptOf(cell), id })
      const goesOn = isShared(cell) && !isEndless(cell, KEPT)
      shown.set(cell, [
        first,
        goesOn ? await askHttp(gateway.url, 'native', { ...asked, text: 'behave', id: `${id}-2` }) : undefined,
      ])
    }
    return shown
  }

  test.each(CELLS.map((cell) => [cell.back, cell.behaviour, cell] as const))(
    '%s: %s',
    async (back, behaviour, cell) => {
      const [first, next] = await results.get(cell)!
      const answer = JSON.parse(first.raw) as { turn: string; losses?: { kind: string; count: number }[] }
      const store = join(gateway.folder, 'turnpike.db')
      const kept = () => turnsOf(store, sessionOf(cell)).find(({ turn }) => turn === answer.turn)!
      await until(() => kept().outcome !== null)
      const { outcome, code, ends, endsLast } = kept()
      const lost = (answer.losses ?? []).filter(({ kind }) => kind === 'unparsed')
      const unparsed = lost.reduce((sum, { count }) => sum + count, 0)
      const words = wordsFor({ outcome, code, text: first.text, unparsed })
      seen[behaviour] = { ...seen[behaviour], [back]: words }
      const raw = first.raw.slice(0, 500)
      expect({ words, ends, endsLast, raw }).toEqual({
        words: ACCEPT ? words : KEPT[behaviour]?.[back],
        ends: 1,
        endsLast: true,
        raw,
      })
      expect(first.ok).toBe(outcome === 'completed')
      if (next)
        expect({ ok: next.ok, text: next.text, raw: next.raw }).toEqual({ ok: true, text: ANSWER, raw: next.raw })
    },
  )

  test('has no outcome that nothing is tried for', () => {
    const named = Object.entries(KEPT).flatMap(([behaviour, by]) =>
      Object.keys(by).map((back) => `${behaviour} ${back}`),
    )
    expect(ACCEPT ? [] : named.sort()).toEqual(
      ACCEPT ? [] : CELLS.map(({ behaviour, back }) => `${behaviour} ${back}`).sort(),
    )
  })

  test('leaves nothing behind', async () => {
    await Promise.allSettled(results.values())
    await until(() => ownProcesses().length === 0)
    expect([...gateway.engine.turns]).toEqual([])
  })
})
