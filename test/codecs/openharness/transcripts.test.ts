import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { codec } from '../../../codecs/openharness/index.ts'
import type { TurnEnd } from '../../../src/model/index.ts'
import { driveBack, driveFront, plainTurn } from '../../kit/drive.ts'
import { PUBLISHED, RECORDINGS } from '../../kit/recordings.ts'
import { answerOf, HTTP, validResponse } from './kit.ts'

const folder = join(RECORDINGS, 'openharness')

interface Exchange {
  method: string
  path: string
  headers: Record<string, string>
  request: string
  status: number | null
  response: string
  truncated: boolean
}

interface Line {
  dir: 'request' | 'response' | 'client'
  method: string
  path: string
  headers: Record<string, string>
  body: string
  status: number | null
  truncated?: boolean
}

/** The exchanges of a recording that are about OpenHarness envelopes. */
function exchanges(file: string): Exchange[] {
  const lines = readFileSync(join(folder, file), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)
  const found: Exchange[] = []
  lines.forEach((line, index) => {
    const answer = lines[index + 1]
    if (line.dir !== 'request' || answer?.dir !== 'response') return
    found.push({
      method: line.method,
      path: line.path,
      headers: Object.fromEntries(Object.entries(line.headers).map(([key, value]) => [key.toLowerCase(), value])),
      request: line.body,
      status: answer.status,
      response: answer.body,
      truncated: line.truncated === true || answer.truncated === true,
    })
  })
  return found
}

/** Envelopes over HTTP; what pairing, health and the bridge's own upstream say is something else. */
function isEnvelopeCall({ method, path }: Exchange): boolean {
  return method === 'POST' && /^\/(v1\/)?openharness(\?|$)|^\/demo\/harness$/.test(path)
}

/** How our back ends a turn that was answered like this: the fault's code, or the text. */
const BACK: Record<string, string> = {
  'bridge-minimal.jsonl': "[stub-openclaw] 'Hello, OpenHarness.'",
  'bridge-upstream-text.jsonl': 'plain words',
  'bridge-upstream-list.jsonl': '[1, 2]',
  'bridge-request-id-number.jsonl': "[stub-openclaw] 'Hello, OpenHarness.'",
  'bridge-request-null.jsonl': "[stub-openclaw] ''",
  'bridge-upstream-500.jsonl': 'provider-down',
  'bridge-upstream-slow.jsonl': 'agent-crashed',
  'bridge-upstream-refused.jsonl': 'provider-down',
  'bridge-bad-json.jsonl': 'agent-crashed',
  'client-demo-chat.jsonl': "[demo-engine] You said: 'Hello there'",
  'demo-harness-no-auth.jsonl': 'provider-auth',
  'demo-harness-bad-json.jsonl': 'protocol-violation',
}

/** How our front answers the request: `turn`, or the code of the error. */
const FRONT: Record<string, string> = {
  'bridge-request-id-number.jsonl': 'invalid_request',
  'bridge-missing-version.jsonl': 'invalid_request',
  'bridge-version-2.jsonl': 'protocol_version_unsupported',
  'bridge-request-null.jsonl': 'invalid_request',
  'bridge-request-string.jsonl': 'invalid_request',
  'bridge-base64-attachment.jsonl': 'invalid_request',
  'bridge-bad-json.jsonl': 'invalid_request',
  'bridge-json-array.jsonl': 'invalid_request',
  'bridge-chunked.jsonl': 'invalid_request',
  'bridge-keepalive.jsonl': 'invalid_request',
  'demo-harness-bad-json.jsonl': 'invalid_request',
}

describe('recorded exchanges', () => {
  const files = readdirSync(folder).filter((file) => file.endsWith('.jsonl'))

  test('all recordings are there', () => {
    const index = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')) as { file: string }[]
    expect(files).toEqual(index.map(({ file }) => file).sort())
  })

  test.each(files)('%s through the back', (file) => {
    const answered = exchanges(file).filter((exchange) => !exchange.truncated && exchange.method !== 'stdin')
    for (const exchange of answered) {
      const drive = driveBack(codec)
      drive.start('hi')
      if (exchange.status !== null) drive.link.decodeHead?.({ status: exchange.status, headers: {} })
      drive.feed(exchange.response)
      drive.link.decodeEnd({ why: 'closed' })
      expect(drive.events.filter(({ type }) => type === 'turn-end')).toHaveLength(1)
      expect(drive.losses).toEqual([])
      expect(JSON.stringify(drive.events)).not.toContain('tok-123')
    }
    const expected = BACK[file]
    if (expected === undefined) return
    const first = answered.find(isEnvelopeCall)!
    const drive = driveBack(codec)
    drive.start('hi')
    drive.link.decodeHead?.({ status: first.status!, headers: {} })
    drive.feed(first.response)
    drive.link.decodeEnd({ why: 'closed' })
    const end = drive.events.at(-1) as TurnEnd
    const texts = drive.events.flatMap((event) => (event.type === 'message-end' ? (event.parts ?? []) : []))
    const said = texts.map((part) => (part.type === 'text' ? part.text : '')).join('')
    expect(end.fault?.code ?? said).toBe(expected)
  })

  test.each(files)('%s through the front', (file) => {
    for (const exchange of exchanges(file).filter((one) => !one.truncated && isEnvelopeCall(one))) {
      const drive = driveFront(codec, { ...HTTP, headers: exchange.headers })
      drive.feed(exchange.request)
      const expected = FRONT[file]
      if (expected === undefined) {
        expect(drive.faults).toEqual([])
        drive.play(plainTurn('Hello'))
        expect(answerOf(drive).response['status']).toBe('success')
      } else {
        expect(answerOf(drive).response['error']).toMatchObject({ code: expected })
      }
    }
  })

  test('one envelope on stdin', () => {
    const once = exchanges('bridge-once.jsonl').filter(({ path }) => path.startsWith('bridge-once'))
    const exits = once.map(({ request }) => {
      const drive = driveFront(codec)
      drive.feed(request)
      if (drive.commands.length > 0) drive.play(plainTurn('Hello'))
      answerOf(drive)
      return drive.exitCode ?? 0
    })
    expect(exits).toEqual([0, 1, 1])
  })
})

describe('published examples', () => {
  const examples = join(PUBLISHED, 'openharness/examples')
  const read = (path: string): string => readFileSync(join(examples, path), 'utf8')

  test.each(['minimal/request.json', 'im-cli/request.json'])('%s becomes a turn without loss', (path) => {
    const drive = driveFront(codec, HTTP)
    drive.feed(read(path))
    expect(drive.commands).toMatchObject([{ type: 'turn-start' }])
    expect(drive.losses).toEqual([])
  })

  test.each([
    ['minimal/response.json', 200],
    ['minimal/response-error.json', 400],
    ['minimal/response-protocol-unsupported.json', 400],
    ['im-cli/response-success.json', 200],
    ['im-cli/response-capability-denials.json', 200],
  ])('%s passes through both halves', (path, status) => {
    const text = read(path)
    const back = driveBack(codec)
    back.start('hi')
    back.link.decodeHead?.({ status, headers: {} })
    back.feed(text)
    back.link.decodeEnd({ why: 'closed' })
    const given = validResponse(JSON.stringify(JSON.parse(text)))
    const front = driveFront(codec)
    const { request_id, correlation_id } = given
    front.feed(
      JSON.stringify({
        protocol_version: '1.0.0',
        request_id,
        correlation_id,
        capabilities: Object.fromEntries(
          (given['capability_denials'] as { capability: string }[] | undefined)?.map(({ capability }) => [
            capability,
            true,
          ]) ?? [],
        ),
        request: { context: { user_intent: 'x' } },
      }),
    )
    front.play(back.events.filter((event) => event.turn !== null))
    const got = answerOf(front)
    expect(got).toMatchObject({ request_id, response: { status: (given['response'] as { status: string }).status } })
    expect(got['capability_denials'] ?? []).toEqual(given['capability_denials'] ?? [])
    const error = (given['response'] as { error?: object }).error
    if (error) expect(got.response['error']).toEqual(error)
    expect([...back.losses, ...front.losses]).toEqual([])
  })
})
