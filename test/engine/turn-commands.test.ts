import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Store } from '../../src/contract/index.ts'
import { Exchange } from '../../src/engine/client/exchange.ts'
import { TurnCommands } from '../../src/engine/dispatch/turn-commands.ts'
import type { Answered, AskReply, Command, EventOf, Target } from '../../src/model/index.ts'
import { openStore } from '../../src/store/index.ts'
import { engineParts, plainClient, settingsOf } from '../kit/engine-parts.ts'
import { ANSWER, PlainHost, plainTurn, start } from '../kit/plain.ts'

let store: Store
beforeEach(() => {
  store = openStore({ kind: 'sqlite', path: ':memory:' })
})
afterEach(() => store.close())

const OPTIONS = [
  { id: 'ok', kind: 'allow', scope: 'once' },
  { id: 'no', kind: 'deny', scope: 'once' },
] as const
const ask = (id: string): EventOf<'ask'> => ({
  type: 'ask',
  turn: 't',
  ask: id,
  question: { kind: 'approval', name: 'rm', args: '{}', options: OPTIONS },
})
const ECHO = { protocol: 'plain', json: '{"asked":true}' }
const AGAIN = { protocol: 'plain', json: '{"answered":true}' }
const RESULT: AskReply = { kind: 'tool', status: 'ok', parts: [] }
const pick = (option: string): AskReply => ({ kind: 'approval', option })

/** A recorded turn that is parked with these questions. */
async function parked(...questions: string[]) {
  const parts = engineParts(store, settingsOf([]))
  const { recorder, turns, watch, opener } = parts
  const commands: TurnCommands = new TurnCommands({ store, now: () => 9 }, turns, recorder)
  const key = { tenant: 'local', agent: 'plain', session: 's', conversation: '' }
  const record = await opener.record(key, 1)
  const answer = { asks: 'next-request', echo: ECHO } as const
  const { turn, run, host } = plainTurn({ answer, session: { record }, peers: { recorder, turns } })
  turns.add(turn)
  watch.began(turn, false)
  await recorder.begin(turn, { tenant: 'local', front: 'plain', promised: true })
  turn.accept()
  turn.link = {
    send: (command: Command) => void sent.push(command),
    pause() {},
    cancel() {},
    abort: () => false,
  } as never
  const sent: Command[] = []
  for (const id of questions) if (run.asks.asked(ask(id))) turn.take(run.asks.shown(ask(id)))
  await Promise.resolve()
  const shared: string[] = []
  const client = plainClient(shared)
  /** Gives a reply under a target, with an exchange for what follows. */
  const reply = async (target: Target, to: AskReply, about?: string, also?: Answered[]): Promise<PlainHost> => {
    const other = new PlainHost()
    const command = {
      type: 'ask-reply',
      exchange: 'y',
      target,
      reply: to,
      ...(about !== undefined && { ask: about }),
      ...(also && { also }),
    } as const
    const exchange = new Exchange(command, { ...ANSWER, asks: 'next-request', echo: AGAIN }, other)
    await commands.run(client, command, exchange)
    await Promise.resolve()
    return other
  }
  const token = { continuation: turn.questions!.parked!.continuation }
  return { ...parts, commands, turn, run, host, client, shared, sent, reply, token }
}

describe('an answer with the token of a park', () => {
  test('gets the rest of the turn', async () => {
    const { reply, token, turn, sent, shared } = await parked('q')
    const host = await reply(token, pick('ok'))
    expect([host.types, sent.length, shared, turn.questions?.parked]).toEqual([
      ['ask-settled'],
      1,
      ['answered'],
      undefined,
    ])
    turn.take({ type: 'turn-end', turn: 't', outcome: 'completed' })
    expect(host.types).toEqual(['ask-settled', 'turn-end'])
  })

  test('to one of two questions is asked the other one again', async () => {
    const { reply, token, turn } = await parked('q', 'q2')
    const host = await reply(token, pick('ok'), 'q2')
    expect(host.types).toEqual(['ask-settled', 'turn-parked'])
    expect(turn.questions?.parked?.asks.map((open) => open.ask)).toEqual(['q'])
    // An answer that fits no open question changes nothing; one that does counts under the first token too.
    const asked = turn.questions!.parked
    expect((await reply(token, pick('perhaps'), 'q')).types).toEqual(['ask-settled', 'turn-parked'])
    expect(turn.questions!.parked).toEqual(asked)
    expect((await reply(token, pick('ok'), 'q')).types).toEqual(['ask-settled'])
    expect(turn.questions?.parked).toBeUndefined()
  })

  test('keeps what later answers repeat of each request, once', async () => {
    const { reply, token, turn, recorder } = await parked('q', 'q2', 'q3')
    await reply(token, pick('ok'), 'none', [
      { ask: 'q', reply: pick('ok') },
      { ask: 'q2', reply: pick('ok') },
    ])
    const events = await recorder.events(turn)
    expect(events[0]!.event).toMatchObject({ type: 'turn-accepted', ext: ECHO })
    const settled = events.flatMap(({ event }) => (event.type === 'ask-settled' ? [[event.ask, event.ext]] : []))
    expect(settled).toEqual([
      ['q', AGAIN],
      ['q2', undefined],
    ])
  })

  test('that comes twice is told what became of the turn; another answer is refused', async () => {
    const { reply, token, turn, recorder } = await parked('q')
    await reply(token, pick('ok'))
    const again = reply(token, pick('ok'))
    turn.take({ type: 'turn-end', turn: 't', outcome: 'completed' })
    await recorder.flush()
    expect((await again).types).toEqual(['ask-settled', 'turn-end'])
    const late = await reply(token, pick('ok'))
    expect(late.types).toEqual(['ask-settled', 'turn-end'])
    const other = await reply(token, pick('no'))
    expect(other.faults.map(({ code }) => code)).toEqual(['invalid-request'])
    const unknown = await reply(token, pick('ok'), 'none')
    expect(unknown.faults.map(({ code }) => code)).toEqual(['invalid-request'])
  })

  test('counts also under the token of an earlier park; the same one again gets the same rest', async () => {
    const { reply, token, turn, recorder } = await parked('q', 'q2')
    await reply(token, pick('ok'), 'q2')
    // What is no answer to it gets what followed the first park.
    expect((await reply(token, pick('perhaps'), 'q')).types).toEqual(['ask-settled', 'turn-parked'])
    expect((await reply(token, pick('ok'), 'q')).types).toEqual(['ask-settled'])
    turn.take({ type: 'turn-end', turn: 't', outcome: 'completed' })
    await recorder.flush()
    expect((await reply(token, pick('ok'), 'q')).types).toEqual(['ask-settled', 'turn-end'])
    expect((await reply(token, pick('ok'), 'q2')).types).toEqual(['ask-settled', 'turn-parked'])
  })

  test.each(['timeout', 'answered'] as const)(
    'that comes after its question was settled without it is lost, with what it brings (%s)',
    async (how) => {
      const { commands, client, run, turn, token, recorder } = await parked('q', 'q2')
      const losses = async (more: Partial<Command & { type: 'ask-reply' }>) => {
        const about = { type: 'ask-reply', exchange: 'y', target: token, ask: 'q', reply: RESULT, ...more } as const
        const exchange = new Exchange(about, { ...ANSWER, asks: 'next-request' }, new PlainHost())
        await commands.run(client, about, exchange)
        return exchange.losses.map(({ item, why, count }) => [item, why, count])
      }
      const input = [{ type: 'text', text: 'and' }] as const
      const also = [{ ask: 'q2', reply: pick('ok') }]
      const settled = { type: 'ask-settled', turn: 't', ask: 'q', how, by: 'policy' } as const
      run.asks.settled(settled)
      turn.take(settled)
      expect(await losses({ also })).toEqual([['ask-reply', 'policy', 1]])
      turn.take({ type: 'turn-end', turn: 't', outcome: 'completed' })
      await recorder.flush()
      expect(await losses({ also, input })).toEqual([['ask-reply', 'policy', 1]])
      expect(await losses({ input })).toEqual([
        ['ask-reply', 'policy', 1],
        ['turn-steer', 'no-place', 1],
      ])
      // The first question is meant where an answer does not say which.
      expect(await losses({ ask: undefined as never })).toEqual([['ask-reply', 'policy', 1]])
      expect(await losses({ ask: 'q2' })).toEqual([])
    },
  )

  test('of another turn is none', async () => {
    const { reply, turn } = await parked('q')
    const { faults } = await reply({ continuation: 't.other' }, pick('ok'))
    expect(faults.map(({ code }) => code)).toEqual(['session-not-found'])
    turn.cancel()
  })
})

describe('an answer with other settings, and fields of its own', () => {
  const SAID = { settings: { options: { topP: 1 } }, ext: { protocol: 'p', json: '{}' } }
  const answering = async (loss: 'report' | 'strict', target?: Target) => {
    const parts = await parked('q')
    parts.turn.route.loss = loss
    const command = {
      type: 'ask-reply',
      exchange: 'y',
      target: target ?? parts.token,
      ask: 'q',
      reply: pick('ok'),
    } as const
    const host = new PlainHost()
    const said = { ...command, ...SAID }
    await parts.commands.run(parts.client, said, new Exchange(said, { ...ANSWER, asks: 'next-request' }, host))
    return { ...parts, host, items: parts.turn.losses.list.map(({ item, field }) => [item, field]) }
  }

  test('loses what does not reach the agent', async () => {
    const { items, sent, turn } = await answering('report')
    expect(items).toEqual([
      ['option.topP', undefined],
      ['ext', 'p'],
    ])
    expect([sent.length, turn.questions?.parked]).toEqual([1, undefined])
    const inline = await answering('report', { turn: 't' })
    expect(inline.items).toEqual([
      ['ext', 'p'],
      ['option.topP', undefined],
    ])
  })

  test('is refused where nothing may be lost, and the turn waits', async () => {
    const { host, items, sent, turn } = await answering('strict')
    expect(host.faults).toMatchObject([{ code: 'lossy-refused', message: expect.stringContaining('option.topP') }])
    expect([items, sent, turn.questions?.parked?.asks.length]).toEqual([[], [], 1])
  })
})

test('a parked turn that its client deletes is cancelled first', async () => {
  const { commands, client, turn, turns, token } = await parked('q')
  turn.link!.cancel = () => void turn.take({ type: 'turn-end', turn: 't', outcome: 'cancelled' })
  const host = new PlainHost()
  const command = { type: 'turn-delete', exchange: 'd', id: 't' } as const
  await commands.run(client, command, new Exchange(command, ANSWER, host))
  expect([host.faults, host.replies.length, turn.view.end?.outcome]).toEqual([[], 1, 'cancelled'])
  expect([turns.get('t'), await store.readTurn('t'), await store.readEvents('t', 0)]).toEqual([
    undefined,
    undefined,
    [],
  ])
  expect(token.continuation).toMatch(/^t\./)
})

describe('an answer to a turn that its gateway left', () => {
  const failed = (code: 'internal' | 'timeout') => ({
    type: 'turn-end' as const,
    turn: 't',
    outcome: 'failed' as const,
    fault: { code, message: 'why', retryable: true },
  })
  const settled = (how: 'answered' | 'timeout' | 'cancelled') => ({
    type: 'ask-settled' as const,
    turn: 't',
    ask: 'q',
    how,
  })
  test.each([
    ['runs', [], false],
    ['was lost with its question', [failed('internal')], true],
    ['was lost after its question was withdrawn', [settled('cancelled'), failed('internal')], true],
    ['was lost after an answer', [settled('answered'), failed('internal')], false],
    ['was lost after the policy had answered', [settled('timeout'), failed('internal')], false],
    ['failed of itself', [failed('timeout')], false],
    ['was cancelled', [{ type: 'turn-end', turn: 't', outcome: 'cancelled' }], false],
  ] as const)('that %s is lost: %j', async (_what, events, isLost) => {
    const { commands, run, turn, recorder, token } = await parked('q')
    for (const event of events) {
      if (event.type === 'ask-settled') run.asks.settled(event)
      turn.take(event)
    }
    await recorder.flush()
    const about = (target: Target) =>
      ({ type: 'ask-reply', exchange: 'y', target, reply: { kind: 'tool', status: 'ok', parts: [] } }) as const
    expect(await commands.isLost('local', about(token))).toBe(isLost)
    expect(await commands.isLost('other', about(token))).toBe(false)
    expect(await commands.isLost('local', about({ continuation: `${token.continuation}x` }))).toBe(false)
    expect(await commands.isLost('local', about({ continuation: 'no.park' }))).toBe(false)
    expect(await commands.isLost('local', about({ turn: 't' }))).toBe(false)
    expect(await commands.isLost('local', about('running'))).toBe(false)
  })
})

describe('a turn that has ended', () => {
  test('is followed from its record, and can be neither cancelled nor steered', async () => {
    const { commands, client, turn, recorder } = await parked('q')
    turn.cancel()
    turn.take({ type: 'turn-end', turn: 't', outcome: 'cancelled' })
    await recorder.flush()
    const run = async (command: Parameters<TurnCommands['run']>[1]): Promise<PlainHost> => {
      const host = new PlainHost()
      await commands.run(client, command, new Exchange(command, ANSWER, host))
      return host
    }
    const target = { turn: 't' }
    const followed = await run({ type: 'turn-follow', exchange: 'f', target })
    expect([followed.types.at(0), followed.types.at(-1)]).toEqual(['turn-accepted', 'turn-end'])
    for (const command of [
      { type: 'turn-cancel', exchange: 'c', target },
      { type: 'turn-steer', exchange: 'd', target, input: [] },
    ] as const) {
      const { replies } = await run(command)
      expect(replies).toMatchObject([{ fault: { code: 'invalid-request' } }])
    }
  })

  test('of another tenant is not there', async () => {
    const { commands, client, turn, recorder } = await parked('q')
    turn.cancel()
    turn.take({ type: 'turn-end', turn: 't', outcome: 'cancelled' })
    await recorder.flush()
    client.options.access.tenant = 'other'
    const host = new PlainHost()
    const command = { type: 'turn-follow', exchange: 'f', target: { turn: 't' } } as const
    await commands.run(client, command, new Exchange(command, ANSWER, host))
    expect(host.faults.map(({ code }) => code)).toEqual(['session-not-found'])
  })
})

test('a start is no command about a turn', () => {
  const cancel = { exchange: 'x', type: 'turn-cancel', target: 'running' } as const
  expect([TurnCommands.takes(start()), TurnCommands.takes(cancel)]).toEqual([false, true])
})
