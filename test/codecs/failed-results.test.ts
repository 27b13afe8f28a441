/** Results of calls that have failed, as servers of models get them: that they failed is said or lost, never dropped. */
import { describe, expect, test } from 'vitest'
import { codec as anthropic } from '../../codecs/anthropic/index.ts'
import { codec as openai } from '../../codecs/openai/index.ts'
import type { Call } from '../../src/contract/index.ts'
import type { Part, ToolStatus } from '../../src/model/index.ts'
import { driveBack } from '../kit/drive.ts'

const STATUSES: readonly ToolStatus[] = ['ok', 'error', 'denied', 'cancelled']
const BACKS = {
  chat: [openai, 'chat'],
  responses: [openai, 'responses'],
  messages: [anthropic, undefined],
} as const
/** The statuses that a server has a place for. */
const PLACES: Readonly<Record<string, readonly ToolStatus[]>> = {
  chat: ['ok'],
  responses: ['ok'],
  messages: ['ok', 'error'],
}

function sent(back: keyof typeof BACKS, status: ToolStatus, parts: readonly Part[]) {
  const [codec, dialect] = BACKS[back]
  const drive = driveBack(codec as typeof openai, dialect === undefined ? {} : { dialect })
  drive.start('', {
    history: [
      { role: 'user', parts: [{ type: 'text', text: 'hi' }] },
      { role: 'assistant', parts: [{ type: 'tool-call', tool: 'c', name: 'add', args: '{}' }] },
    ],
    input: [{ type: 'tool-reply', tool: 'c', status, parts }],
  })
  const losses = drive.losses.filter(({ item }) => item === 'part.tool-reply')
  return { body: String((drive.calls.at(-1) as Extract<Call, { kind: 'http' }>).body), losses }
}

describe.each(Object.keys(BACKS) as (keyof typeof BACKS)[])('%s', (back) => {
  test.each(STATUSES)('a result with a text and the status "%s"', (status) => {
    const { body, losses } = sent(back, status, [{ type: 'text', text: 'boom' }])
    const lost = { kind: 'weakened', item: 'part.tool-reply', field: 'status', why: 'no-place', count: 1 }
    expect(body).toContain('boom')
    expect(body).not.toContain('ended with the status')
    expect(body.includes('"is_error":true')).toBe(back === 'messages' && status !== 'ok')
    expect(losses).toEqual(PLACES[back]!.includes(status) ? [] : [lost])
  })

  test.each(STATUSES)('a result without a text and with the status "%s"', (status) => {
    const { body, losses } = sent(back, status, [])
    expect(body.includes(`The tool call ended with the status: ${status}.`)).toBe(status !== 'ok')
    expect(losses).toEqual([])
  })
})
