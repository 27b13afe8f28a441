import { expect, test } from 'vitest'
import { loadCodecs } from '../../codecs/index.ts'
import { LOCAL_TENANT } from '../../src/contract/index.ts'
import type { AgentSettings } from '../../src/engine/common/index.ts'
import { SessionChanges } from '../../src/engine/dispatch/session-changes.ts'
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
