import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Store } from '../../src/contract/index.ts'
import { Exchange } from '../../src/engine/client/exchange.ts'
import type { AgentSettings, EngineSettings } from '../../src/engine/common/index.ts'
import { Dispatcher } from '../../src/engine/dispatch/dispatcher.ts'
import type { Command } from '../../src/model/index.ts'
import { openStore } from '../../src/store/index.ts'
import { engineParts, plainClient, settingsOf } from '../kit/engine-parts.ts'
import { ANSWER, DONE, notingLog, PlainHost, plainAgent, start } from '../kit/plain.ts'
import { storeFailure } from '../kit/store-failure.ts'

/** Ends the turn that it is given, under the id in its command. */
const ANY = `read -r line; id=$(echo "$line" | sed 's/.*"turn":"\\([^"]*\\)".*/\\1/'); echo '${'{"type":"turn-end","turn":"ID","outcome":"completed"}'.replace('ID', `'"$id"'`)}'`

let store: Store
beforeEach(() => {
  store = openStore({ kind: 'sqlite', path: ':memory:' })
})
afterEach(() => store.close())

/** A gateway's middle, with commands given to it as a client's wire does. */
function dispatching(agents: readonly AgentSettings[], more: Partial<EngineSettings> = {}, on: Store = store) {
  const logged: string[] = []
  const log = notingLog((message) => void logged.push(message))
  const settings = settingsOf(agents, { default: agents[0]!.name, ...more })
  const parts = engineParts(on, settings, { log })
  const { recorder, watch } = parts
  const dispatcher = new Dispatcher(parts, { recorder, watch, log, settings: { current: settings }, now: () => 9 })
  const client = plainClient()
  const give = (command: Command) => {
    const host = new PlainHost()
    const exchange = new Exchange(command, ANSWER, host)
    const over = new Promise<PlainHost>((resolve) => {
      host.ended = (one) => {
        host.over.push(one)
        resolve(host)
      }
    })
    dispatcher.command(client, command, exchange)
    return { host, exchange, over }
  }
  const close = async (): Promise<void> => {
    watch.close()
    await parts.sessions.close(50)
  }
  return { ...parts, dispatcher, give, logged, close }
}

describe('a command', () => {
  test('for an agent that is not there is refused', async () => {
    const { give, close } = dispatching([plainAgent(`read -r line; ${DONE}`)], { default: 'none' })
    const { faults } = await give(start()).over
    expect(faults.map(({ code }) => code)).toEqual(['agent-not-found'])
    await close()
  })

  test('that starts a turn is refused once the gateway is stopping; others are not', async () => {
    const { give, dispatcher, close } = dispatching([plainAgent(`read -r line; ${DONE}`)])
    dispatcher.closing = true
    expect((await give(start()).over).faults.map(({ code }) => code)).toEqual(['agent-unavailable'])
    const { replies } = await give({ type: 'query', what: 'health', exchange: 'x' }).over
    expect(replies).toMatchObject([{ data: '{"ok":true}' }])
    await close()
  })

  test('that goes wrong inside ends with an error of its client, and is logged', async () => {
    const { give, logged, close } = dispatching([plainAgent('')])
    store.findSession = () => {
      throw new Error('broken')
    }
    const { faults } = await give({ type: 'query', what: 'state', exchange: 'x', session: { id: 's' } }).over
    expect([faults.map(({ code }) => code), logged]).toEqual([['internal'], ['a command failed']])
    await close()
  })
})

describe('requests for turns that come at once', () => {
  test('find the one place of their session once', async () => {
    const route = {
      when: {},
      agent: 'plain',
      fallback: [],
      approvals: 'deny',
      loss: 'report',
      journal: 'full',
    } as const
    const routes = [{ ...route, secrets: 'keep', busy: 'reject', history: 'resume' }] as const
    const { give, close } = dispatching([plainAgent(ANY, { pool: { warm: 0, max: 3, idle: 60_000 } })], { routes })
    const all = ['1', '2', '3'].map((turn) => give(start({ turn }, turn)))
    const hosts = await Promise.all(all.map(({ over }) => over))
    expect(hosts.map(({ types, faults }) => types.at(-1) ?? faults[0]?.code)).toEqual([
      'turn-end',
      'session-busy',
      'session-busy',
    ])
    await close()
  })

  test('are no more than their key may have', async () => {
    const limits = { turnLimits: new Map([['local', { turns: 2 }]]) }
    const { give, turns, live, close } = dispatching([plainAgent(ANY, { pool: { warm: 0, max: 9, idle: 5 } })], limits)
    const all = ['1', '2', '3', '4'].map((turn) => give(start({ turn, session: { id: turn } }, turn)))
    const hosts = await Promise.all(all.map(({ over }) => over))
    expect(hosts.map(({ types, faults }) => types.at(-1) ?? faults[0]?.code)).toEqual([
      'turn-end',
      'turn-end',
      'overloaded',
      'overloaded',
    ])
    expect(turns.size).toBe(0)
    // Those that were refused leave no session behind.
    while ([...live.values()].length > 0) await new Promise((after) => setTimeout(after, 5))
    await close()
  })
})

/** The writes and reads of a store on the way of a turn. */
const STEPS = [
  'openSession',
  'heardBy',
  'claim',
  'beginTurn',
  'appendEvents',
  'appendMessages',
  'endTurn',
  'release',
] as const

test('whatever step of the store fails, and when: each turn has one end, and nothing of it is left', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ step: fc.constantFrom(...STEPS), at: fc.nat({ max: 4 }) }), { minLength: 1, maxLength: 3 }),
      fc.boolean(),
      fc.array(fc.constantFrom('s1', 's2'), { minLength: 1, maxLength: 3 }),
      async (failures, later, sessions) => {
        const inner = openStore({ kind: 'sqlite', path: ':memory:' })
        const calls = new Map<string, number>()
        const failing = new Proxy(inner, {
          get(of, name: keyof Store) {
            const method = of[name] as (...args: unknown[]) => unknown
            return (...args: unknown[]) => {
              const at = calls.get(name) ?? 0
              calls.set(name, at + 1)
              if (!failures.some((one) => one.step === name && one.at === at)) return method.apply(of, args)
              if (later) return Promise.reject(storeFailure('disk full'))
              throw storeFailure('disk full')
            }
          },
        })
        const { give, turns, live, breakers, close } = dispatching([plainAgent(ANY)], {}, failing)
        const once = { key: 'k', duplicate: 'join', replay: 'success' } as const
        const all = sessions.map((id, at) =>
          give(start({ turn: String(at), session: { id }, ...(at === 0 && { once }) }, String(at))),
        )
        const hosts = await Promise.all(all.map(({ over }) => over))
        for (const { events, faults, ended } of hosts) {
          const ends = events.filter(({ type }) => type === 'turn-end').length + faults.length
          expect([ends, ended.length]).toEqual([1, 1])
        }
        while (turns.size > 0) await new Promise((after) => setImmediate(after))
        for (const session of live.values()) {
          while (session.occupied) await new Promise((after) => setImmediate(after))
          expect([session.busy, session.refusal(0)]).toEqual([false, undefined])
        }
        expect(breakers.state(plainAgent(''))).toBe('closed')
        await close()
        await inner.close()
      },
    ),
    { numRuns: 15 },
  )
})
