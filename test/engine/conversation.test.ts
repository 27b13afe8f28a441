import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { conversationDigest, knownAs } from '../../src/engine/record/conversation.ts'
import type { Message, Part } from '../../src/model/index.ts'

const text = (said: string, more: object = {}): Part => ({ type: 'text', text: said, ...more })
const call = (tool: string, args = '{"a":1}', name = 'add'): Part => ({ type: 'tool-call', tool, name, args })
const reply = (tool: string, said: string): Part => ({ type: 'tool-reply', tool, status: 'ok', parts: [text(said)] })
const user = (...parts: Part[]): Message => ({ role: 'user', parts })
const assistant = (...parts: Part[]): Message => ({ role: 'assistant', parts })
const tool = (...parts: Part[]): Message => ({ role: 'tool', parts })
const system = (...parts: Part[]): Message => ({ role: 'system', parts })

const image: Part = { type: 'image', mime: 'image/png', base64: 'QUFB' }
const CALLED = [user(text('add')), assistant(text('so'), call('c1'), call('c2', '{"a":2}'))]
const ROUND = [...CALLED, tool(reply('c1', '1'), reply('c2', '2')), assistant(text('done'))]

describe('two conversations are the same', () => {
  test.each<[what: string, one: Message[], other: Message[]]>([
    ['whatever white space an answer has', [assistant(text('a b\r\n'))], [assistant(text(' a\n\nb'))]],
    ['in whatever pieces an answer comes', [assistant(text('a')), assistant(text('b'))], [assistant(text('a\n\nb'))]],
    ['with or without reasoning', [assistant({ type: 'reasoning', text: 'hm' }, text('a'))], [assistant(text('a'))]],
    ['with or without a picture of the assistant', [assistant(image, text('a'))], [assistant(text('a'))]],
    ['whatever a protocol adds', [user(text('a', { ext: { protocol: 'p', json: '{}' } }))], [user(text('a'))]],
    ['with messages of the user together or not', [user(text('a')), user(text('b'))], [user(text('a'), text('b'))]],
    ['with or without empty texts', [user(text('a'), text('')), assistant()], [user(text('a'))]],
    ['whatever the times', [{ ...user(text('a')), at: 5 }], [user(text('a'))]],
    ['however their members are ordered', [user(image)], [user({ base64: 'QUFB', type: 'image', mime: 'image/png' })]],
    ['whatever ids calls have', ROUND, JSON.parse(JSON.stringify(ROUND).replaceAll('"c1"', '"x"')) as Message[]],
    [
      'however arguments are written',
      [assistant(call('c', '{"a":1,"b":2}'))],
      [assistant(call('c', '{ "b":2, "a":1 }'))],
    ],
    [
      'with or without a tool that the agent ran itself',
      [user(text('a')), assistant(text('so'), call('own')), assistant(reply('own', 'x'), text('done'))],
      [user(text('a')), assistant(text('so\n\ndone'))],
    ],
    [
      'in whatever order results come',
      ROUND,
      [...CALLED, tool(reply('c2', '2')), tool(reply('c1', '1')), assistant(text('done'))],
    ],
    [
      'whatever message results are in',
      ROUND,
      [...CALLED, user(reply('c1', '1'), reply('c2', '2')), assistant(text('done'))],
    ],
  ])('%s', (_what, one, other) => {
    expect(conversationDigest(one)).toBe(conversationDigest(other))
  })
})

describe('two conversations differ', () => {
  test.each<[what: string, one: Message[], other: Message[]]>([
    ['by the text of the user', [user(text('a'))], [user(text('b'))]],
    ['by its white space', [user(text('a  b'))], [user(text('a b'))]],
    ['by its pieces', [user(text('a'), text('b'))], [user(text('ab'))]],
    ['by the text of an answer', [assistant(text('a'))], [assistant(text('b'))]],
    ['by who says something', [user(text('a'))], [system(text('a'))]],
    ['by what is a text and what an answer', [user(text('a'))], [assistant(text('a'))]],
    ['by a picture of the user', [user(image)], [user({ ...image, base64: 'QkJC' } as Part)]],
    ['by the order of what is said', [user(text('a'), text('b'))], [user(text('b'), text('a'))]],
    ['by the name of a tool', [assistant(call('c'))], [assistant(call('c', '{"a":1}', 'sub'))]],
    ['by the arguments of a call', [assistant(call('c'))], [assistant(call('c', '{"a":1.0}'))]],
    ['by arguments that are no JSON', [assistant(call('c', 'x'))], [assistant(call('c', 'x '))]],
    ['by a result', ROUND, JSON.parse(JSON.stringify(ROUND).replace('"text":"2"', '"text":"3"')) as Message[]],
    [
      'by the call that a result is of',
      ROUND,
      [...CALLED, tool(reply('c1', '2'), reply('c2', '1')), assistant(text('done'))],
    ],
    ['by a result that is missing', ROUND, [...CALLED, tool(reply('c1', '1')), assistant(text('done'))]],
    ['by an answer between call and result', [...CALLED, assistant(text('x'))], CALLED],
  ])('%s', (_what, one, other) => {
    expect(conversationDigest(one)).not.toBe(conversationDigest(other))
  })

  test('by one message more, anywhere', () => {
    const said = fc.array(
      fc.record({ of: fc.constantFrom('user', 'assistant', 'system' as const), text: fc.constantFrom('a', 'b') }),
      { maxLength: 6 },
    )
    const messages = (all: readonly { of: string; text: string }[]): Message[] =>
      all.map((one) => ({ role: one.of as 'user', parts: [text(one.text)] }))
    fc.assert(
      fc.property(said, fc.nat(6), (all, at) => {
        const more = [...all.slice(0, at), { of: 'user', text: 'more' }, ...all.slice(at)]
        expect(conversationDigest(messages(more))).not.toBe(conversationDigest(messages(all)))
      }),
    )
  })
})

test('a conversation may be cut before any message of the user', () => {
  const round = fc.constantFrom<Message[]>(
    [user(text('a')), assistant(text('b'))],
    [user(text('a'), image), assistant(text('b')), assistant(text('c'))],
    ROUND,
  )
  fc.assert(
    fc.property(fc.array(round, { maxLength: 5 }), (rounds) => {
      const step = (before: string | undefined, messages: Message[]): string => conversationDigest(messages, before)
      expect(rounds.reduce(step, conversationDigest([]))).toBe(conversationDigest(rounds.flat()))
    }),
  )
})

test('calls that the client does not see are no part of it', () => {
  const mine = [user(text('a')), assistant(call('c1'), call('own')), tool(reply('own', 'x'), reply('c1', '1'))]
  const seen = [user(text('a')), assistant(call('c1')), tool(reply('c1', '1'))]
  expect(conversationDigest(mine, '', (id) => id !== 'own')).toBe(conversationDigest(seen))
})

test('what is known is of one tenant, agent and named session', () => {
  const whose = { tenant: 't', agent: 'a' }
  const told = { named: '["s",""]', digest: 'd' }
  const all = [
    knownAs(told, whose),
    knownAs(told, { ...whose, tenant: 'u' }),
    knownAs(told, { ...whose, agent: 'b' }),
    knownAs({ ...told, named: '["",""]' }, whose),
    knownAs({ ...told, digest: 'e' }, whose),
  ]
  expect(new Set(all).size).toBe(all.length)
  expect(knownAs(told, whose)).toMatch(/^[0-9a-f]{64}$/)
})
