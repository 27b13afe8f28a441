import { expect, test } from 'vitest'
import { type CpuProfile, flameGraph, sharesOf } from './flame-graph.ts'

const call = (id: number, functionName: string, url: string, children: number[] = []) => ({
  id,
  callFrame: { functionName, url },
  children,
})

/** 100 ms of start-up, then 300 in `take<T>` (of which 100 in the store), 100 idle, 100 in the garbage collector. */
const PROFILE: CpuProfile = {
  nodes: [
    call(1, '(root)', '', [2, 5, 6, 7]),
    call(2, 'take<T>', 'file:///x/src/engine/turn.ts', [3]),
    call(3, '', 'file:///x/src/store/sqlite.ts', [4]),
    call(4, 'run', 'node:sqlite'),
    call(5, '(idle)', ''),
    call(6, 'starting', 'file:///x/src/cli/main.ts'),
    call(7, '(garbage collector)', ''),
  ],
  samples: [6, 2, 4, 5, 7],
  timeDeltas: [100_000, 200_000, 100_000, 100_000, 100_000],
}

test('a flame graph shows who called whom, for how much of the time in which something ran', () => {
  const svg = flameGraph(PROFILE, 0.5, 'a & b')
  expect(svg).toContain('a &#38; b')
  expect([...svg.matchAll(/<title>(.*?)<\/title>/g)].map(([, title]) => title)).toEqual([
    'a &#38; b',
    'all: 100.0 %',
    'take&#60;T&#62;: 75.0 %',
    '(anonymous): 25.0 %',
    'run: 25.0 %',
    '(garbage collector): 25.0 %',
  ])
  expect([...svg.matchAll(/<rect x="(\d+)" y="\d+" width="(\d+)"/g)].map(([, x, width]) => [x, width])).toEqual([
    ['0', '1200'],
    ['0', '900'],
    ['0', '300'],
    ['0', '300'],
    ['900', '300'],
  ])
})

test('the shares are those of the functions themselves', () => {
  expect(sharesOf(PROFILE, 0.5)).toEqual([
    ['engine', 50],
    ['garbage collection', 25],
    ['node', 25],
    ['store', 0],
    ['gateway', 0],
  ])
})
