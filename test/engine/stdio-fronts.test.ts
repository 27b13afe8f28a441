import { expect, test } from 'vitest'
import type { AnyCodec, FrontHalf } from '../../src/contract/index.ts'
import { frontsOf, stdioContext, takenBy } from '../../src/engine/client/stdio-fronts.ts'
import { plainBack } from '../kit/plain.ts'

function front(accepts?: FrontHalf['accepts']) {
  const half = { env: ['A', 'B'], ...(accepts && { accepts }) } as unknown as FrontHalf
  return { wireVersion: '1', framing: 'ndjson' as const, front: half }
}

const started = { argv: ['run', '--x'], env: { A: '1', B: undefined, SECRET: 's' } }

test('only dialects that clients speak are fronts, in the order of the codec', () => {
  const codec = { dialects: { two: front(), agents: plainBack(), one: front() } } as unknown as AnyCodec
  expect(frontsOf(codec).map(([name]) => name)).toEqual(['two', 'one'])
})

test('a front sees the arguments, and of the environment what it asks for', () => {
  expect(stdioContext(front(), started)).toEqual({
    transport: 'stdio',
    method: '',
    path: 'run',
    query: '',
    headers: {},
    argv: ['run', '--x'],
    env: { A: '1' },
  })
  expect(stdioContext(front(), { argv: [], env: {} }).path).toBe('')
})

test('the first front that takes the client has it; one that does not say takes all', () => {
  const fronts = [
    ['never', front(() => false)],
    ['framed', front((frame) => frame === 'hello')],
    ['any', front()],
  ] as const
  expect(takenBy(fronts, undefined, started)?.[0]).toBe('any')
  expect(takenBy(fronts, 'hello', started)?.[0]).toBe('framed')
  expect(takenBy(fronts.slice(0, 2), 'other', started)).toBeUndefined()
})
