import { describe, expect, test } from 'vitest'
import { loadCodecs } from '../../codecs/index.ts'
import { isServedHere } from '../../src/engine/carry/carry.ts'
import { type Named, namedDialects } from '../../src/matrix/index.ts'
import type { Command, Item, Loss, Part, SessionRef, TurnOptions, TurnStart } from '../../src/model/index.ts'
import { Mirror, optionsOf } from '../kit/mirror.ts'

/**
 * Every member of a request for a turn reaches the agent's wire, or is a loss, or is what the gateway itself does. The
 * tables are typed by the model: a member that is added there does not compile here until it has a row.
 */

const codecs = await loadCodecs()
const dialects = namedDialects(Object.values(codecs)).filter(({ dialect }) => dialect.front && dialect.back)
const MARK = 'W7xQ'

type Asked = Command & TurnStart
/** What stands without and with a member. Absent: ids and types. */
type Row = readonly [before: unknown, after: unknown, item: Item]

/** Members of other tables, and those that choose a session or a turn: no back gets them. */
type Elsewhere = 'type' | 'turn' | 'options' | 'input' | 'after' | 'historyMode' | 'retry'
const STARTS: { readonly [M in Exclude<keyof TurnStart, Elsewhere>]-?: Row } = {
  task: ['prompt', 'compact', 'start.compact'],
  request: [undefined, MARK, 'start.request'],
  agent: [undefined, MARK, 'start.agent'],
  user: [undefined, MARK, 'start.user'],
  once: [undefined, { key: MARK, duplicate: 'join', replay: 'never' }, 'start.once'],
  invocation: [undefined, { kind: 'slash', path: [MARK], args: 'a' }, 'start.invocation'],
  history: [undefined, [{ role: 'user', parts: [{ type: 'text', text: MARK }] }], 'start.history'],
  clientTools: [undefined, [{ name: MARK, schema: '{"type":"object"}' }], 'start.clientTools'],
  askedCapabilities: [undefined, [MARK], 'start.askedCapabilities'],
  environment: [undefined, { privacy: 'restricted', json: `{"project":"${MARK}"}` }, 'start.environment'],
  cwd: [undefined, `/${MARK}`, 'start.cwd'],
  folders: [undefined, [`/${MARK}`], 'start.folders'],
  mcpServers: [undefined, [{ type: 'stdio', name: MARK, command: ['m'], env: {} }], 'start.mcpServers'],
}
const OPTIONS: { readonly [M in keyof TurnOptions]-?: unknown } = {
  streaming: true,
  model: MARK,
  temperature: 0.25,
  topP: 0.5,
  maxTokens: 4242,
  stop: [MARK],
  effort: 'high',
  totalMs: 61_000,
  systemPrompt: MARK,
  tools: [MARK],
  toolChoice: { tool: MARK },
  parallelTools: false,
  outputSchema: '{"type":"object"}',
  locale: 'pl-PL',
}
const SESSIONS: { readonly [M in Exclude<keyof SessionRef, 'bound' | 'origin' | 'id'>]-?: unknown } = {
  conversation: MARK,
  channel: MARK,
  name: MARK,
  continuation: MARK,
}
const BLOB = { mime: 'image/png', url: 'https://files.example/x.png', bytes: 9 }
const PARTS: readonly (readonly [name: string, before: Part, after: Part])[] = [
  ['text', { type: 'text', text: 'x' }, { type: 'text', text: MARK }],
  ...(['image', 'audio', 'file'] as const).flatMap((type) => [
    [`${type}.name`, { type, ...BLOB }, { type, ...BLOB, name: MARK }] as const,
    [`${type}.url`, { type, ...BLOB }, { type, ...BLOB, url: `https://files.example/${MARK}.png` }] as const,
    [`${type}.base64`, { type, mime: BLOB.mime, base64: 'QUFB' }, { type, mime: BLOB.mime, base64: 'QkJC' }] as const,
    [`${type}.ref`, { type, mime: BLOB.mime, ref: 'x' }, { type, mime: BLOB.mime, ref: MARK }] as const,
  ]),
  ['data.json', { type: 'data', json: '{"k":"x"}' }, { type: 'data', json: `{"k":"${MARK}"}` }],
]

interface Case {
  name: string
  item: Item
  before: Partial<Asked>
  after: Partial<Asked>
}

const CASES: readonly Case[] = [
  ...Object.entries(STARTS).map(([member, [without, given, item]]) => ({
    name: member,
    item,
    before: set(member, without),
    // A command is also the text that a client typed; agents without a word for it read that.
    after: {
      ...set(member, given),
      ...(member === 'invocation' && { input: [{ type: 'text' as const, text: `/${MARK} a` }] }),
    },
  })),
  ...Object.entries(OPTIONS).map(([member, value]) => ({
    name: `options.${member}`,
    item: `option.${member}` as Item,
    before: {},
    after: { options: { [member]: value } },
  })),
  ...Object.entries(SESSIONS).map(([member, value]) => ({
    name: `session.${member}`,
    item: `session.${member}` as Item,
    before: {},
    after: { session: { id: 's1', [member]: value } },
  })),
  ...PARTS.map(([name, without, given]) => ({
    name: `input ${name}`,
    item: `part.${given.type}` as Item,
    before: { input: [{ type: 'text', text: 'hi' } as const, without] },
    after: { input: [{ type: 'text', text: 'hi' } as const, given] },
  })),
]

function set(member: string, value: unknown): Partial<Asked> {
  return value === undefined ? {} : { [member]: value }
}

/** What an agent is sent for a request, and what of it is lost. */
function told({ name, dialect }: Named, more: Partial<Asked>): { wire: string; losses: Loss[] } {
  const wire: unknown[] = []
  const losses: Loss[] = []
  const mirror = new Mirror(dialect, optionsOf(codecs[name.split('@')[0]!]!), {
    started() {},
    command() {},
    event() {},
    wrote: (said) => wire.push(said),
    asked: (loss) => losses.push(loss),
  })
  mirror.open()
  const input = [{ type: 'text', text: 'hi' }] as const
  const start = { exchange: 'x', type: 'turn-start', turn: 't', task: 'prompt', input, options: {} } as const
  mirror.start({ ...start, session: { id: 's1' }, ...more })
  return { wire: JSON.stringify(wire), losses }
}

describe.each(dialects)('an agent of $name', (named) => {
  test.each(CASES)('is told $name, or it is a loss', ({ name, item, before, after }) => {
    const [without, given] = [told(named, before), told(named, after)]
    const lost = given.losses.filter((loss) => loss.item === item)
    const arrived = given.wire !== without.wire
    expect({ name, accounted: arrived || lost.length > 0 || isServedHere(item) }).toEqual({ name, accounted: true })
    if (named.dialect.back!.capabilities[item] === 'full') expect(lost).toEqual([])
  })
})
