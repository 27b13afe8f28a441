import { expect, test } from 'vitest'
import { hollowFlags } from '../../src/codec-kit/index.ts'

test('each flag of a row has its reason, its value and its effect, in the order of the rows', () => {
  const flags = hollowFlags([
    ['ignored', 'there is a log already', '--debug --log='],
    ['refused', 'nothing is drawn', '-t'],
  ])
  expect([...flags]).toEqual([
    ['--debug', { why: 'there is a log already', value: false, changes: false }],
    ['--log', { why: 'there is a log already', value: true, changes: false }],
    ['-t', { why: 'nothing is drawn', value: false, changes: true }],
  ])
})
