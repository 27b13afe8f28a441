import { describe, expect, test } from 'vitest'
import type { Part } from '../../../../src/model/index.ts'
import type { BackDrive } from '../../../kit/drive.ts'
import { callOf, drive, refusal } from './calls.ts'

describe('attachments', () => {
  const start = (...input: Part[]): BackDrive => {
    const back = drive()
    back.start('', { input })
    return back
  }

  test('one image and one file, without a message', () => {
    const back = start({ type: 'image', url: 'https://x/a.png', name: 'a.png' }, { type: 'file', url: 'https://x/b' })
    expect(callOf(back).env).toMatchObject({
      AGENT_MESSAGE: '',
      AGENT_IMAGE_URL: 'https://x/a.png',
      AGENT_FILE_URL: 'https://x/b',
      AGENT_ATTACHMENTS:
        '[{"type":"image","url":"https://x/a.png","name":"a.png"},{"type":"file","url":"https://x/b","name":""}]',
    })
    expect(back.losses).toEqual([])
  })

  test('two images, audio and video are in the list alone', () => {
    const back = start(
      { type: 'image', url: 'u1' },
      { type: 'image', url: 'u2' },
      { type: 'audio', url: 'u3' },
      { type: 'file', url: 'u4', mime: 'video/mp4' },
    )
    const { env } = callOf(back)
    expect(env?.['AGENT_ATTACHMENTS']).toBe(
      '[{"type":"image","url":"u1","name":""},{"type":"image","url":"u2","name":""},' +
        '{"type":"audio","url":"u3","name":""},{"type":"video","url":"u4","name":""}]',
    )
    expect(Object.keys(env ?? {})).not.toContain('AGENT_IMAGE_URL')
    expect(Object.keys(env ?? {})).not.toContain('AGENT_FILE_URL')
  })

  test('bytes become a data URL, a reference has no place, a media type neither', () => {
    const back = start(
      { type: 'image', base64: 'AAAA', mime: 'image/png' },
      { type: 'audio', base64: 'BBBB' },
      { type: 'file', ref: 'f1' },
      { type: 'file', url: 'u', mime: 'text/plain' },
    )
    expect(callOf(back).env).toMatchObject({
      AGENT_IMAGE_URL: 'data:image/png;base64,AAAA',
      AGENT_FILE_URL: 'u',
      AGENT_ATTACHMENTS:
        '[{"type":"image","url":"data:image/png;base64,AAAA","name":""},' +
        '{"type":"audio","url":"data:application/octet-stream;base64,BBBB","name":""},' +
        '{"type":"file","url":"u","name":""}]',
    })
    expect(back.losses).toEqual([
      { kind: 'weakened', item: 'part.image', field: 'url', why: 'no-place', count: 1 },
      { kind: 'weakened', item: 'part.audio', field: 'url', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'part.file', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'part.file', field: 'mime', why: 'no-place', count: 1 },
    ])
  })
})

describe('what cannot be started', () => {
  /** The longest message that fits with its variable's name, `=` and a NUL into 128 KiB. */
  const FITS = 128 * 1024 - 'AGENT_MESSAGE='.length - 1

  test('a turn without message and attachment', () => {
    const back = drive()
    back.start('', { input: [{ type: 'image', ref: 'r' }], options: { systemPrompt: 'Be brief.' } })
    expect(refusal(back)).toEqual({
      code: 'invalid-request',
      message: 'The turn has neither a message nor an attachment; send one of them.',
      retryable: false,
    })
  })

  test('the longest message fits, one byte more does not', () => {
    const back = drive()
    back.start('m'.repeat(FITS))
    expect(callOf(back).env?.['AGENT_MESSAGE']).toHaveLength(FITS)
    const longer = drive()
    longer.start('m'.repeat(FITS + 1))
    expect(refusal(longer)).toMatchObject({ code: 'payload-too-large' })
    expect(refusal(longer)?.message).toBe(
      'The agent cannot be given more than 128 KiB in AGENT_MESSAGE; send less, or set `stdin: message` for it.',
    )
  })

  test('bytes count, not characters', () => {
    const back = drive()
    back.start('€'.repeat(Math.ceil(FITS / 3) + 1))
    expect(refusal(back)).toMatchObject({ code: 'payload-too-large' })
    const fits = drive()
    fits.start('€'.repeat(Math.floor(FITS / 3)))
    expect(fits.calls).toHaveLength(1)
  })

  test('with stdin: message a long message leaves its variable out and says so', () => {
    const back = drive({}, { stdin: 'message' })
    const message = 'm'.repeat(FITS + 1)
    back.start(message)
    expect(Object.keys(callOf(back).env ?? {})).not.toContain('AGENT_MESSAGE')
    expect(back.sent).toEqual([message])
    expect(back.events[1]).toEqual({
      type: 'notice',
      turn: 't1',
      severity: 'warning',
      code: 'message-on-stdin-only',
      text: 'The message is too long for AGENT_MESSAGE; the agent gets it on stdin alone.',
    })
  })

  test('a long message in an argument', () => {
    const back = drive({ args: ['{{MESSAGE}}'] }, { stdin: 'message' })
    back.start('m'.repeat(FITS + 20))
    expect(refusal(back)).toMatchObject({ code: 'payload-too-large' })
    expect(refusal(back)?.message).toContain('an argument of its command')
  })

  test('a NUL', () => {
    const back = drive()
    back.start('a\0b')
    expect(refusal(back)).toEqual({
      code: 'invalid-request',
      message: 'The agent cannot be given a NUL character in AGENT_MESSAGE; remove it.',
      retryable: false,
    })
  })

  test('a blank command', () => {
    const back = drive({ command: '  ' })
    back.start('hi')
    expect(refusal(back)).toMatchObject({
      code: 'agent-unavailable',
      message: 'The agent agent has no command; set `command`.',
    })
  })
})
