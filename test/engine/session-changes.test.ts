import { describe, expect, onTestFinished, test } from 'vitest'
import { loadCodecs } from '../../codecs/index.ts'
import { LOCAL_TENANT } from '../../src/contract/index.ts'
import type { AgentLink } from '../../src/engine/agent/agent-link.ts'
import { type AgentSettings, MOVED } from '../../src/engine/common/index.ts'
import { SessionChanges } from '../../src/engine/dispatch/session-changes.ts'
import type { LiveSession } from '../../src/engine/session/live-session.ts'
import type { CommandOf } from '../../src/model/index.ts'
import { openStore } from '../../src/store/index.ts'

const codecs = await loadCodecs()
const backs = Object.entries(codecs).flatMap(([protocol, { dialects }]) =>
  Object.entries(dialects).flatMap(([dialect, { back }]) => (back ? [{ name: `${protocol}@${dialect}`, back }] : [])),
)

/** What each agent can be set to without its process, by the names of the settings. */
const SETTABLE: Readonly<Record<string, string>> = {
  'acp@v1': 'model effort mode',
  'anthropic@messages': 'model effort',
  'claude-code@stream-json': 'model mode',
  'codex@app-server': 'model effort',
  'codex@exec': 'model',
  'native@lines': 'model effort mode',
  'openai@chat': 'model effort',
  'openai@responses': 'model effort',
  'qwen-code@code': 'model effort mode',
  'qwen@code': 'model effort mode',
  'qwen@rfc': 'model',
  'zot@rpc': 'model',
}

test('options of an agent that offers them are kept beside each other', async () => {
  const store = openStore({ kind: 'sqlite', path: ':memory:' })
  const changes = new SessionChanges(store)
  const { back } = backs.find(({ name }) => name === 'native@lines')!
  const about = { agent: { name: 'a', dialect: { back } } as unknown as AgentSettings, tenant: LOCAL_TENANT, at: 1 }
  const set = (id: string, value: string | boolean) =>
    changes.configure(
      { type: 'config-set', exchange: 'x', session: { id: 's' }, option: { id, value } },
      about,
      undefined,
    )
  for (const [id, value] of [
    ['web', true],
    ['tone', 'dry'],
    ['web', false],
  ] as const)
    expect(await set(id, value)).toEqual({})
  const key = { tenant: LOCAL_TENANT, agent: 'a', session: 's', conversation: '' }
  expect((await store.findSession(key))?.settings).toEqual({ options: { web: false, tone: 'dry' } })
  await store.close()
})

test.each(backs)('what is set for a session of $name is kept, or refused', async ({ name, back }) => {
  const store = openStore({ kind: 'sqlite', path: ':memory:' })
  const changes = new SessionChanges(store)
  const about = { agent: { name, dialect: { back } } as unknown as AgentSettings, tenant: LOCAL_TENANT, at: 1 }
  const key = { tenant: LOCAL_TENANT, agent: name, session: 's', conversation: '' }
  const able: string[] = []
  // All at once, as lines of one body come.
  await Promise.all(
    ['model', 'effort', 'mode'].map(async (setting) => {
      const command = { type: 'config-set', exchange: 'x', session: { id: 's' }, [setting]: 'one' } as const
      const { fault } = await changes.configure(command, about, undefined)
      if (!fault) able.push(setting)
    }),
  )
  expect(able.join(' ')).toBe(SETTABLE[name] ?? '')
  const kept = (await store.findSession(key))?.settings
  expect(kept ?? {}).toEqual(Object.fromEntries(able.map((setting) => [setting, 'one'])))
  await store.close()
})

describe('a change of a session', () => {
  const KEY = { tenant: LOCAL_TENANT, agent: 'a', session: 's', conversation: '' }
  const agentThat = (able: Record<string, string>): AgentSettings =>
    ({ name: 'a', dialect: { back: { capabilities: able } } }) as unknown as AgentSettings
  const ALL = { 'config-set': 'full', 'query.offers': 'full', 'option.model': 'full', 'option.effort': 'full' }

  async function changing() {
    const store = openStore({ kind: 'sqlite', path: ':memory:' })
    onTestFinished(() => store.close())
    const record = await store.openSession(KEY, 'kept', 1)
    const kept = async () => (await store.readSession('kept'))?.settings
    return { store, record, kept, changes: new SessionChanges(store) }
  }
  const set = (more: object): CommandOf<'config-set'> => ({
    type: 'config-set',
    exchange: 'x',
    session: { id: 's' },
    ...more,
  })

  test.each<[object, Record<string, string>, boolean]>([
    [{}, {}, true],
    [{ mode: 'm' }, { 'config-set': 'full' }, true],
    [{ mode: 'm' }, { 'config-set': 'partial' }, false],
    [{ model: 'm' }, { 'option.model': 'partial' }, true],
    [{ model: 'm' }, { 'option.model': 'none' }, false],
    [{ effort: 'high' }, { 'option.effort': 'partial' }, true],
    [{ effort: 'high' }, { 'option.effort': 'none' }, false],
    [{ option: { id: 'o', value: true } }, { 'config-set': 'full', 'query.offers': 'partial' }, true],
    [{ option: { id: 'o', value: true } }, { 'config-set': 'full', 'query.offers': 'none' }, false],
    [{ option: { id: 'o', value: true } }, { 'config-set': 'partial', 'query.offers': 'full' }, false],
    [{ model: 'm', mode: 'm' }, { ...ALL, 'config-set': 'none' }, false],
    [{ model: 'm', mode: 'm', effort: 'e', option: { id: 'o', value: 1 } }, ALL, true],
  ])('to %j is taken by an agent that can %j: %s', async (what, able, taken) => {
    const { changes, kept } = await changing()
    const { fault } = await changes.configure(
      set(what),
      { agent: agentThat(able), tenant: LOCAL_TENANT, at: 2 },
      undefined,
    )
    if (taken) {
      expect(fault).toBeUndefined()
      const { option, ...plain } = what as { option?: { id: string; value: unknown } }
      expect((await kept()) ?? {}).toEqual({ ...plain, ...(option && { options: { o: option.value } }) })
    } else {
      expect(fault).toMatchObject({ code: 'invalid-request', message: 'The agent "a" cannot be set to this.' })
      expect(await kept()).toBeUndefined()
    }
  })

  test('is kept in memory and in the store, beside what was set before', async () => {
    const { changes, record, kept } = await changing()
    const live = { record } as LiveSession
    const about = { agent: agentThat(ALL), tenant: LOCAL_TENANT, at: 2 }
    expect(await changes.configure(set({ model: 'm', option: { id: 'a', value: 1 } }), about, live)).toEqual({})
    expect(await changes.configure(set({ mode: 'plan', option: { id: 'b', value: 2 } }), about, live)).toEqual({})
    const settings = { model: 'm', mode: 'plan', options: { a: 1, b: 2 } }
    expect([record.settings, await kept()]).toEqual([settings, settings])
  })

  test('without a name begins a session of its own', async () => {
    const { changes, store } = await changing()
    const { session: _, ...unnamed } = set({ model: 'm' })
    expect(await changes.configure(unnamed, { agent: agentThat(ALL), tenant: 'ann', at: 2 }, undefined)).toEqual({})
    const { rows } = (await store.listSessions({ tenant: 'ann', limit: 9 }))!
    expect(rows).toMatchObject([{ agent: 'a', conversation: '', createdAt: 2, settings: { model: 'm' } }])
    expect(rows[0]!.session).toMatch(/^[\w-]{10,}$/)
  })

  test('of a session that another process has taken over is refused', async () => {
    const { changes, store, record } = await changing()
    store.setSession = async () => false
    store.clearSession = async () => undefined
    const about = { agent: agentThat(ALL), tenant: LOCAL_TENANT, at: 2 }
    expect(await changes.configure(set({ model: 'm' }), about, undefined)).toEqual({ fault: MOVED })
    expect(await changes.clear(record, undefined, 2)).toEqual({ fault: MOVED })
  })

  test('that clears it begins it again in memory and in the store', async () => {
    const { changes, store, record } = await changing()
    await store.bindSession('kept', 'its own', undefined)
    const renewed: unknown[] = []
    const live = { renew: (epoch: unknown) => void renewed.push(epoch) } as unknown as LiveSession
    expect(await changes.clear(record, live, 7)).toEqual({})
    const { bound, epoch } = (await store.readSession('kept'))!
    expect([bound, renewed]).toEqual([undefined, [epoch]])
    expect(epoch).toBe(7)
  })

  test('that clears one which is not recorded begins it again in memory', async () => {
    const { changes } = await changing()
    const renewed: unknown[] = []
    const live = { renew: (epoch: unknown) => void renewed.push(epoch) } as unknown as LiveSession
    expect(await changes.clear(undefined, live, 7)).toEqual({})
    expect(await changes.clear(undefined, undefined, 7)).toEqual({})
    expect(renewed).toEqual([undefined])
  })

  test('that the agent has made itself is kept, and what it said about its process too', async () => {
    const { changes, store, record, kept } = await changing()
    const done: unknown[] = []
    const memory = { forget: (epoch: unknown) => void done.push(['forget', epoch]) }
    const live = { record, memory } as unknown as LiveSession
    const link = { wasSet: (command: unknown) => void done.push(['wasSet', command]) } as unknown as AgentLink
    const command = set({ mode: 'plan' })
    await changes.done(command, live, link, 5)
    expect(await kept()).toEqual({ mode: 'plan' })
    await changes.done({ type: 'session-clear', exchange: 'x' }, live, link, 6)
    expect((await store.readSession('kept'))!.epoch).toBe(6)
    await changes.done({ type: 'query', exchange: 'x', what: 'health' }, live, link, 7)
    expect(done).toEqual([
      ['wasSet', command],
      ['forget', 6],
    ])
  })
})
