import { expect, test } from 'vitest'
import { ControlAsks, type ControlVerdict } from '../../src/codec-kit/index.ts'
import type { BackPorts } from '../../src/contract/index.ts'
import type { AskReply, CommandOf } from '../../src/model/index.ts'

const question = { kind: 'client', method: 'm', params: '{}' } as const
const REPLY: AskReply = { kind: 'client', result: '1' }

/** Questions of a turn and of none, and what came of them. */
function drive() {
  const sent: unknown[] = []
  const emitted: unknown[] = []
  const losses: unknown[] = []
  const asks = new ControlAsks<{ turn: string; denied: Set<string> }>({
    send: (line: string) => void sent.push(JSON.parse(line)),
    emit: (event) => void emitted.push(event),
    report: (...loss) => void losses.push(loss),
  } as BackPorts)
  const turn = { turn: 't', denied: new Set<string>() }
  const put = (request: string, tool: string | undefined, verdict: ControlVerdict | undefined): void =>
    asks.put(request, { question, ...(tool !== undefined && { tool }), answer: () => verdict }, turn)
  const reply = (ask?: string): boolean =>
    asks.reply({
      type: 'ask-reply',
      exchange: 'e',
      target: 'running',
      ...(ask && { ask }),
      reply: REPLY,
    } as CommandOf<'ask-reply'>)
  return { asks, sent, emitted, losses, turn, put, reply }
}

const response = (request_id: unknown, said: object): object => ({
  type: 'control_response',
  response: { ...said, request_id },
})

test('each question is put under its own id, of its turn or of none', () => {
  const { asks, emitted, put } = drive()
  const ext = { protocol: 'p', json: '{}' }
  put('"r"', undefined, undefined)
  put('7', undefined, undefined)
  asks.put('"r"', { question, ext, answer: () => undefined }, undefined)
  expect(emitted).toEqual([
    { turn: 't', type: 'ask', ask: 'r', question },
    { turn: 't', type: 'ask', ask: '7', question },
    { turn: null, type: 'ask', ask: 'r#2', question, ext },
  ])
})

test('an answer goes to its question once; one that names none to the oldest', () => {
  const { sent, put, reply } = drive()
  put('1', undefined, { json: '{"a":1}' })
  put('"two"', undefined, { json: '{"b":2}', stops: true })
  expect([reply('two'), reply('two'), reply(), reply()]).toEqual([true, false, false, false])
  expect(sent).toEqual([
    response('two', { subtype: 'success', response: { b: 2 } }),
    response(1, { subtype: 'success', response: { a: 1 } }),
  ])
})

test('tools that are refused are denied, and arguments that cannot be changed are a loss', () => {
  const { losses, sent, turn, put, reply } = drive()
  put('1', 'allowed', { json: '{}' })
  put('2', 'refused', { json: '{}', refused: true, edited: true })
  put('3', 'unanswered', undefined)
  put('4', undefined, { json: '{}', refused: true })
  for (const ask of ['1', '2', '3', '4']) reply(ask)
  expect([...turn.denied]).toEqual(['refused', 'unanswered'])
  expect(losses).toEqual([[expect.objectContaining({ item: 'ask-reply', field: 'edited' }), 't']])
  expect(sent[2]).toEqual(response(3, { subtype: 'error', error: 'The host gave an answer of another kind, or none.' }))
})

test('a request can be refused, and open questions settled', () => {
  const { asks, emitted, sent, put, reply } = drive()
  asks.refuse('"r"', 'No.')
  put('1', 'a', undefined)
  put('2', 'b', undefined)
  asks.put('3', { question, tool: 'b', answer: () => undefined }, undefined)
  asks.settle('timeout', ({ tool }) => tool === 'b')
  expect(emitted.slice(3)).toEqual([
    { turn: 't', type: 'ask-settled', ask: '2', how: 'timeout' },
    { turn: null, type: 'ask-settled', ask: '3', how: 'timeout' },
  ])
  expect([reply('2'), reply('3'), sent]).toEqual([false, false, [response('r', { subtype: 'error', error: 'No.' })]])
})
