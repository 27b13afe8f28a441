import { from, lastValueFrom, toArray } from 'rxjs'
import { describe, expect, test } from 'vitest'
import { loadCodec } from '../../codecs/index.ts'
import { asBack, asFront, type BackContext, type FrontContext } from '../../src/contract/index.ts'
import { decode$, encode$ } from '../../src/engine/replay/observables.ts'
import type { Command, Fault, Loss, TurnStart } from '../../src/model/index.ts'
import { plainTurn } from '../kit/drive.ts'

const context: BackContext<unknown> = { options: { mode: 'oneshot' }, agent: 'a', env: {}, folder: '/' }
const start: Command & TurnStart = {
  exchange: 'x',
  type: 'turn-start',
  turn: 't',
  task: 'prompt',
  input: [{ type: 'text', text: 'hi' }],
  options: {},
  session: { id: 's' },
}
const stdio: FrontContext = { transport: 'stdio', method: '', path: '', query: '', headers: {}, argv: [], env: {} }

describe('decode$', () => {
  test('gives one turn of an agent, and tells what was not understood', async () => {
    const { dialects } = (await loadCodec('zene'))!
    const losses: Loss[] = []
    const frames = from(['rubbish', '{"ok":true,"request_id":"t","session_id":"s","text":"hello"}'])
    const events = decode$(asBack(dialects['host']), frames, { context, start, loss: (loss) => losses.push(loss) })
    expect((await lastValueFrom(events.pipe(toArray()))).map(({ type }) => type)).toEqual([
      'turn-started',
      'message-start',
      'message-end',
      'turn-end',
    ])
    expect(losses).toEqual([{ kind: 'unparsed', item: 'foreign', why: 'unknown', count: 1 }])
  })

  test('a wire that ends first is a failed turn', async () => {
    const { dialects } = (await loadCodec('zene'))!
    const end = { why: 'closed', exitCode: 7 } as const
    const events = decode$(asBack(dialects['host']), from([]), { context, start, end })
    expect(await lastValueFrom(events)).toMatchObject({ type: 'turn-end', outcome: 'failed' })
  })
})

describe('encode$', () => {
  test('gives what a client reads, and tells what it has no place for', async () => {
    const { dialects } = (await loadCodec('zene'))!
    const losses: Loss[] = []
    const faults: Fault[] = []
    const request = ['{"request_id":"r","session_id":"s","prompt":"hi"}']
    const [first, ...more] = plainTurn('hello', 't')
    const told = from([first!, { type: 'step-start', turn: 't', step: 1 } as const, ...more])
    const reading = { context: stdio, request, agent: 'a', loss: (loss: Loss) => losses.push(loss) }
    const frames = encode$(asFront(dialects['host']), told, { ...reading, fault: (fault) => faults.push(fault) })
    const [answer, ...others] = await lastValueFrom(frames.pipe(toArray()))
    expect(JSON.parse(String(answer))).toMatchObject({ ok: true, request_id: 'r', text: 'hello' })
    expect([others, faults]).toEqual([[], []])
    expect(losses).toEqual([{ kind: 'dropped', item: 'step-start', why: 'no-place', count: 1 }])
  })
})
