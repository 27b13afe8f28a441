import { describe, expect, test } from 'vitest'
import { callIdOf, type ParkedAnswer } from '../../src/codec-kit/index.ts'
import { commandsOf } from '../../src/codec-kit/request-commands.ts'
import type { Command, Message, Part } from '../../src/model/index.ts'

const START: Command = { exchange: 'x1', type: 'query', what: 'agents' }
const TEXT: Part = { type: 'text', text: 'And this.' }

/** The id of the call at a place of a park of a turn, as the client has it. */
const id = (turn: string, at: number, park = 1): string => callIdOf('call_', { continuation: `${turn}.${park}`, at })
const result = (tool: string, text: string): Part => ({
  type: 'tool-reply',
  tool,
  status: 'ok',
  parts: [{ type: 'text', text }],
})
const call = (tool: string): Part => ({ type: 'tool-call', tool, name: 'f', args: '{}' })

function commands(input: readonly Part[], history: readonly Message[] = [], answers?: readonly ParkedAnswer[]) {
  let starts = 0
  const start = (): Command => {
    starts += 1
    return START
  }
  return { ...commandsOf({ input, history, ...(answers && { answers }) }, 'x1', start), starts }
}

describe('results of calls that a turn is parked at', () => {
  test('go on with the turn, all of them', () => {
    const input = [result(id('t0', 0), 'zero'), result(id('t0', 1), 'one')]
    const reply = (text: string) => ({ kind: 'tool', status: 'ok', parts: [{ type: 'text', text }] })
    expect(commands(input)).toEqual({
      starts: 0,
      before: [],
      command: {
        exchange: 'x1',
        type: 'ask-reply',
        target: { continuation: 't0.1' },
        at: 0,
        reply: reply('zero'),
        also: [{ at: 1, reply: reply('one') }],
      },
    })
  })

  test('keep the fields that the model has no place for', () => {
    const ext = { protocol: 'p', json: '{"mark":1.0}' }
    expect(commands([{ ...result(id('t0', 0), 'zero'), ext }]).command).toMatchObject({ reply: { ext } })
  })

  test('may come with further input of the user', () => {
    const { command } = commands([result(id('t0', 0), 'zero'), TEXT])
    expect(command).toMatchObject({ type: 'ask-reply', at: 0, input: [TEXT] })
    expect(command).not.toHaveProperty('also')
  })

  test('come after answers that are no results', () => {
    const approved: ParkedAnswer = {
      call: { continuation: 't0.1', at: 3 },
      reply: { kind: 'approval', option: 'allow' },
    }
    const { command } = commands([result(id('t0', 0), 'zero')], [], [approved])
    expect(command).toMatchObject({ at: 3, reply: approved.reply, also: [{ at: 0 }] })
  })

  test.each([
    ['of two turns', [result(id('t0', 0), 'a'), result(id('t1', 0), 'b')]],
    ['of two parks of a turn', [result(id('t0', 0), 'a'), result(id('t0', 0, 2), 'b')]],
    ['of a turn and of another server', [result(id('t0', 0), 'a'), result('call_abc', 'b')]],
    ['of another server and of a turn', [result('call_abc', 'b'), result(id('t0', 0), 'a')]],
    ['of another server', [result('call_abc', 'b')]],
  ])('%s begin a turn', (_, input) => {
    expect(commands(input)).toEqual({ starts: 1, before: [], command: START })
  })
})

describe('a request that begins a turn', () => {
  const CANCEL = { exchange: 'x1-cancel', type: 'turn-cancel', target: { turn: 't0' } }
  const said = (...parts: Part[]): Message => ({ role: 'assistant', parts })

  test.each<[string, Message[], object[]]>([
    ['has nothing to cancel', [], []],
    ['has nothing to cancel after an answer', [said(TEXT)], []],
    ['cancels the turn whose calls it leaves without results', [said(TEXT, call(id('t0', 0)))], [CANCEL]],
    ['cancels it once', [said(call(id('t0', 0)), call(id('t0', 1)))], [CANCEL]],
    ['leaves calls of another server alone', [said(call('call_abc'))], []],
    ['finds the call of ours among those of others', [said(call('call_abc'), call(id('t0', 0)))], [CANCEL]],
    ['has nothing to cancel when it is long past', [said(call(id('t0', 0))), said(TEXT)], []],
  ])('%s', (_, history, before) => {
    expect(commands([TEXT], history)).toEqual({ starts: 1, before, command: START })
  })
})
