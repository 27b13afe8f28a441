import { describe, expect, test } from 'vitest'
import { codec } from '../../../../codecs/agentproc/index.ts'
import { driveBack } from '../../../kit/drive.ts'
import { OK, open } from './runs.ts'

describe('the turn', () => {
  test('a new session: one ASCII line, then the end of stdin', () => {
    const back = open({}, { env: { K: '{{SESSION_NAME}}' } })
    back.start('grüße 😀')
    expect(back.calls).toEqual([
      { kind: 'process', command: 'my agent', args: [], cwd: '/work', stdin: 'end', env: { K: 'default' } },
    ])
    expect(back.sent).toEqual([
      '{"type":"turn","message":"gr\\u00fc\\u00dfe \\ud83d\\ude00","session_id":"","session_name":"default","protocol_version":"0.4"}',
    ])
    expect(back.events).toEqual([{ type: 'turn-started', turn: 't1' }])
  })

  test('a resumed session with attachments, permission and what else its client said', () => {
    const back = open(
      { permission: true },
      { command: '{{PROFILE_DIR}}/a', args: ['{{SESSION_ID}}'], cwd: '{{PROFILE_DIR}}' },
    )
    back.start('look', {
      session: { bound: 'ü: 7', name: 'Chat' },
      input: [
        { type: 'text', text: 'look' },
        { type: 'image', url: 'u1', name: 'ü.png', mime: 'image/png', bytes: 12 },
        { type: 'file', url: 'u2', mime: 'video/*' },
        { type: 'file', url: 'u3', mime: 'video/mp4' },
        { type: 'audio', base64: 'AAAA' },
        { type: 'file', ref: 'r' },
      ],
      ext: { protocol: 'agentproc@0.4', json: '{"type":"x","tier":1.0}' },
    })
    expect(back.calls).toMatchObject([{ command: '/agents/a', args: ['ü: 7'], cwd: '/agents', stdin: 'open' }])
    expect(back.sent).toEqual([
      '{"type":"turn","message":"look","session_id":"\\u00fc: 7","session_name":"Chat","protocol_version":"0.4",' +
        '"attachments":[{"kind":"image","url":"u1","filename":"\\u00fc.png","mime_type":"image/png","size":12},' +
        '{"kind":"video","url":"u2"},{"kind":"video","url":"u3","mime_type":"video/mp4"},' +
        '{"kind":"audio","url":"data:application/octet-stream;base64,AAAA"}],"permission":true,"tier":1.0}',
    ])
    expect(back.losses.map(({ kind, item }) => `${kind} ${item}`)).toEqual(['weakened part.audio', 'dropped part.file'])
  })

  test('the sender that a client of wire 0.1 named; foreign fields are dropped', () => {
    const back = open()
    back.start('hi', { ext: { protocol: 'agentproc', json: '{"AGENT_FROM_USER":"mira","AGENT_Y":"2"}' } })
    expect(back.sent[0]).toContain('"protocol_version":"0.4","from_user":"mira"}')
    back.link.decodeEnd(OK)
    back.start('hi', { ext: { protocol: 'agentproc', json: '{"AGENT_X":"1"}' } })
    back.link.decodeEnd(OK)
    back.start('hi', { ext: { protocol: 'zot', json: '{}' } })
    expect(back.losses.map(({ field }) => field)).toEqual(['AGENT_Y', 'AGENT_X', 'zot'])
  })

  test('a message of any length and with NULs goes to stdin, not into the environment', () => {
    const back = open()
    back.start(`${'m'.repeat(300_000)}\0`)
    expect(back.calls).toHaveLength(1)
    expect(back.sent[0]).toContain('m\\u0000"')
    const other = open({}, { args: ['{{MESSAGE}}'] })
    other.start('m'.repeat(300_000))
    expect(other.events).toMatchObject([{ type: 'turn-end', fault: { code: 'payload-too-large' } }])
  })

  test('nothing to do is an error', () => {
    const back = open()
    back.start('')
    expect(back.calls).toEqual([])
    expect(back.events).toMatchObject([{ type: 'turn-end', outcome: 'failed', fault: { code: 'invalid-request' } }])
  })

  test('without a configured process the backend knows the command', () => {
    const back = driveBack(codec, { dialect: '0.4' })
    back.start('hi')
    expect(back.calls).toEqual([{ kind: 'process', env: {}, stdin: 'end' }])
  })
})
