import { expect, describe as group, test } from 'vitest'
import { describe, mismatchOf, optionOf, policyReply } from '../../src/engine/turn/ask-replies.ts'
import type { AskReply, Question } from '../../src/model/index.ts'

const APPROVAL: Question = {
  kind: 'approval',
  name: 'rm',
  args: '{}',
  options: [
    { id: 'yes!', kind: 'allow', scope: 'always' },
    { id: 'yes', kind: 'allow', scope: 'once' },
    { id: 'no', kind: 'deny', scope: 'once' },
  ],
}
const OPEN: Question = { ...APPROVAL, options: [{ id: 'go', kind: 'allow', scope: 'session' }] }
const pick = (option: string): AskReply => ({ kind: 'approval', option })

group('the policy’s reply', () => {
  test.each<[Question, 'allow' | 'deny', AskReply]>([
    [APPROVAL, 'allow', pick('yes')],
    [APPROVAL, 'deny', pick('no')],
    [OPEN, 'allow', pick('go')],
    [OPEN, 'deny', pick('deny')],
    [{ kind: 'input', message: 'm' }, 'allow', { kind: 'input', values: '{}' }],
    [{ kind: 'tool', tool: 'c' }, 'allow', { kind: 'tool', status: 'denied', parts: [] }],
  ])('to %j by the policy %s is %j', (question, policy, reply) => {
    expect(policyReply(question, policy)).toEqual(reply)
    expect(mismatchOf(question, reply)).toBeUndefined()
  })
})

test.each<[Question, AskReply, string]>([
  [APPROVAL, { kind: 'input', values: '{}' }, 'The question wants an answer of the kind "approval".'],
  [APPROVAL, pick('maybe'), 'The question has no such option; choose one of: yes!, yes, no.'],
  [APPROVAL, pick('deny'), 'The question has no such option; choose one of: yes!, yes, no.'],
])('%j is not answered by %j', (question, reply, why) => {
  expect(mismatchOf(question, reply)).toBe(why)
})

test('a question is named without its content', () => {
  expect([describe(APPROVAL), describe({ kind: 'input', message: 'secret' })]).toEqual(['approval of rm', 'input'])
  expect([optionOf(pick('yes')), optionOf({ kind: 'input', values: '{}' })]).toEqual([{ option: 'yes' }, {}])
})
