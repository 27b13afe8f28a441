/**
 * A mistake of the gateway in any use of the store is found by whoever asked for that, and in the log. It never counts as
 * a store that cannot be used, which would refuse the requests of everybody else.
 */
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Store } from '../../src/contract/index.ts'
import { Exchange } from '../../src/engine/client/exchange.ts'
import { Dispatcher } from '../../src/engine/dispatch/dispatcher.ts'
import type { Command } from '../../src/model/index.ts'
import { openStore } from '../../src/store/index.ts'
import { engineParts, plainClient, settingsOf } from '../kit/engine-parts.ts'
import { ANSWER, notingLog, PlainHost, plainAgent, start } from '../kit/plain.ts'
import { storeFailure } from '../kit/store-failure.ts'

const LIMITS = { turns: 5, tokensPerDay: 1e9 }
/** Ends the turn that it is given, under the id in its command. */
const ENDS = `read -r line; id=$(echo "$line" | sed 's/.*"turn":"\\([^"]*\\)".*/\\1/'); echo '{"type":"turn-end","turn":"'"$id"'","outcome":"completed"}'`

let real: Store
beforeEach(() => {
  real = openStore({ kind: 'sqlite', path: ':memory:' })
})
afterEach(() => real.close())

/** A gateway's middle on a store of which one method fails as long as `broken` has its error. */
function breaking(method: string) {
  const broken: { by: Error | undefined; calls: number } = { by: undefined, calls: 0 }
  const store = new Proxy(real, {
    get(of, name: string) {
      const found = (of as unknown as Record<string, unknown>)[name]
      if (typeof found !== 'function') return found
      return (...args: unknown[]) => {
        if (name === method) broken.calls += 1
        if (name === method && broken.by) throw broken.by
        return found.apply(of, args)
      }
    },
  })
  const logged: string[] = []
  const log = notingLog((message) => void logged.push(message))
  const agent = plainAgent(ENDS)
  const settings = settingsOf([agent], { default: agent.name, turnLimits: new Map([['local', LIMITS]]) })
  const parts = engineParts(store, settings, { log })
  const dispatcher = new Dispatcher(parts, { ...parts, log, settings: { current: settings }, now: () => 9 })
  /** What becomes of a request: its fault, the outcome of its turn, or that its client is cut. */
  const give = async (command: Command): Promise<string | undefined> => {
    const host = new PlainHost()
    const exchange = new Exchange(command, ANSWER, host)
    await new Promise((resolve) => {
      host.ended = resolve
      dispatcher.command(plainClient(), command, exchange)
    })
    const end = host.events.find((event) => event.type === 'turn-end')
    return host.client.refused ? 'cut' : (host.faults[0]?.code ?? end?.fault?.code ?? end?.outcome)
  }
  const close = async (): Promise<void> => {
    broken.by = undefined
    parts.watch.close()
    await parts.sessions.close(50)
  }
  return { ...parts, broken, give, logged, close }
}

const once = (key: string) => ({ once: { key, duplicate: 'join' as const, replay: 'success' as const } })

test.each([
  ['claim', 'internal'],
  ['findSession', 'internal'],
  ['openSession', 'internal'],
  ['spentOf', 'internal'],
  ['takePlace', 'internal'],
  ['takeLease', 'internal'],
  ['beginTurn', 'internal'],
  ['endTurn', 'cut'],
  ['givePlace', 'completed'],
])('in %s: %s', async (method, became) => {
  const { broken, give, logged, watch, close, turns } = breaking(method)
  broken.by = new TypeError('Cannot read properties of undefined')
  const first = await give(start({ turn: 't1', session: { id: 's1' }, ...once('one') }))
  expect(broken.calls).toBeGreaterThan(0)
  expect([watch.writable, logged.length > 0, logged.filter((line) => /^the record/.test(line))]).toEqual([
    true,
    true,
    [],
  ])
  expect(first).toBe(became)
  broken.by = undefined
  expect(await give(start({ turn: 't2', session: { id: 's2' }, ...once('two') }))).toBe('completed')
  expect(turns.size).toBe(0)
  await close()
})

test.each(['claim', 'findSession', 'openSession'])('a store that fails in %s is one', async (method) => {
  const { broken, give, logged, watch, close } = breaking(method)
  broken.by = storeFailure()
  expect(await give(start({ turn: 't1', session: { id: 's1' }, ...once('one') }))).toBe('agent-unavailable')
  expect([watch.writable, logged[0]]).toEqual([false, 'the record could not be written'])
  await close()
})

test('what a request has taken is given back when it goes wrong', async () => {
  const { broken, give, close } = breaking('heardBy')
  broken.by = new TypeError('a mistake')
  for (let at = 1; at <= LIMITS.turns; at += 1) {
    const session = { id: `s${at}` }
    await real.openSession({ tenant: 'local', agent: 'plain', session: session.id, conversation: '' }, `i${at}`, 1)
    expect(await give(start({ turn: `t${at}`, session }))).toBe('internal')
  }
  expect(await give(start({ turn: 'last', session: { id: 'last' } }))).toBe('completed')
  expect(broken.calls).toBe(LIMITS.turns)
  await close()
})
