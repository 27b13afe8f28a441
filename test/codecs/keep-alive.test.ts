import { describe, expect, test } from 'vitest'
import { loadCodecs } from '../../codecs/index.ts'
import { driveFront } from '../kit/drive.ts'

const codecs = await loadCodecs()
const LINES = { 'content-type': 'application/x-ndjson', accept: 'application/x-ndjson' }
const JSON_TYPE = { 'content-type': 'application/json', accept: 'application/json' }
const turn = '{"type":"turn","message":"hi","session_id":"","session_name":"","protocol_version":"0.4"}'
const run = '{"request_id":"r","session_id":"s","prompt":"hi"}'
const user = '{"type":"user","message":{"role":"user","content":"hi"}}'

describe('a front whose wire is silent', () => {
  test.each([
    ['zot', undefined, '{"id":"1","type":"prompt","message":"hi"}'],
    ['zene', undefined, run],
    ['qwen-code', undefined, user],
    ['agentproc', '0.4', turn],
    ['agentproc', '0.3', turn.replace('0.4', '0.3')],
    ['agentproc', '0.1', 'hi'],
  ])('says nothing on stdio, where a program reads: %s %s', (protocol, dialect, frame) => {
    const drive = driveFront(codecs[protocol]!, dialect === undefined ? {} : { dialect })
    drive.feed(frame)
    const said = [...drive.sent]
    drive.link.keepAlive?.()
    expect(drive.sent).toEqual(said)
  })

  test.each([
    ['zot', undefined, LINES, '{"id":"1","type":"prompt","message":"hi"}', ''],
    ['zene', undefined, LINES, run, ''],
    ['zene', undefined, JSON_TYPE, run, undefined],
    ['qwen-code', undefined, LINES, user, ''],
    ['agentproc', '0.4', LINES, turn, '{"type":"partial","text":""}'],
    ['agentproc', '0.4', JSON_TYPE, '{"AGENT_MESSAGE":"hi","AGENT_STREAMING":"1"}', 'AGENT_PARTIAL:""'],
    ['agentproc', '0.4', JSON_TYPE, '{"AGENT_MESSAGE":"hi","AGENT_STREAMING":"0"}', undefined],
  ] as const)('says what readers skip over HTTP, unless its answer is one piece: %s %s %o', (...row) => {
    const [protocol, dialect, headers, frame, sign] = row
    const http = { transport: 'http', method: 'POST', headers } as const
    const drive = driveFront(codecs[protocol]!, { ...http, ...(dialect && { dialect }) })
    drive.feed(frame)
    const before = drive.sent.length
    drive.link.keepAlive?.()
    expect(drive.sent.slice(before)).toEqual(sign === undefined ? [] : [sign])
  })

  test('says nothing before it knows which wire its client speaks', () => {
    const drive = driveFront(codecs['agentproc']!, { dialect: '0.4', transport: 'http', headers: LINES })
    drive.link.keepAlive?.()
    expect(drive.sent).toEqual([])
  })
})
