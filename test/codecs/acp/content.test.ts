import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ALL_KINDS, type ContentKinds, readBlock, textBlock, writeBlock } from '../../../codecs/acp/content.ts'
import { errors } from '../../../codecs/acp/errors.ts'
import { reasonOf, stopOf } from '../../../codecs/acp/stops.ts'
import type { Part, Stop } from '../../../src/model/index.ts'

const NONE: ContentKinds = { image: false, audio: false, embedded: false }
const json = (value: object): string => JSON.stringify(value)
const whole = (value: object) => ({ ext: { protocol: 'acp', json: json(value) } })

describe('reading', () => {
  const link = { type: 'resource_link', uri: 'file:///a.txt', name: 'a.txt' }
  const text = { type: 'resource', resource: { uri: 'file:///a.txt', text: 'A', mimeType: 'text/plain' } }
  const blob = { type: 'resource', resource: { uri: 'file:///a.bin', blob: 'QQ==' } }
  const titled = { ...link, title: 'A', mimeType: 'text/plain', size: 7 }
  const marked = { type: 'text', text: 'x', annotations: { priority: 1 } }

  test.each<[object, Part]>([
    [
      { type: 'text', text: 'x', annotations: null },
      { type: 'text', text: 'x' },
    ],
    [marked, { type: 'text', text: 'x', ...whole(marked) }],
    [
      { type: 'image', data: 'QQ==', mimeType: 'image/png', uri: 'https://x' },
      { type: 'image', base64: 'QQ==', mime: 'image/png', url: 'https://x' },
    ],
    [
      { type: 'audio', data: 'QQ==', mimeType: '' },
      { type: 'audio', base64: 'QQ==' },
    ],
    [link, { type: 'file', url: 'file:///a.txt', name: 'a.txt' }],
    [
      { ...link, size: -1 },
      { type: 'file', url: 'file:///a.txt', name: 'a.txt' },
    ],
    [titled, { type: 'file', url: 'file:///a.txt', name: 'a.txt', mime: 'text/plain', bytes: 7, ...whole(titled) }],
    [text, { type: 'text', text: 'file:///a.txt:\nA', ...whole(text) }],
    [blob, { type: 'file', url: 'file:///a.bin', base64: 'QQ==', ...whole(blob) }],
  ])('%j', (block, part) => expect(readBlock(json(block))).toEqual(part))

  test.each([
    {},
    { type: 7 },
    { type: 'toString' },
    { type: 'text' },
    { type: 'image', data: 1 },
    { type: 'resource_link', name: 'x' },
    { type: 'resource' },
    { type: 'resource', resource: { uri: 'x' } },
    { type: 'resource', resource: { text: 'x' } },
    { type: 'brand_new' },
  ])('%j is kept as data', (block) => expect(readBlock(json(block))).toEqual({ type: 'data', json: json(block) }))

  test('what is no object is kept as data', () => {
    expect(readBlock('7')).toEqual({ type: 'data', json: '7' })
  })
})

/** What is written of a part, and what is lost of it. */
function written(part: Part, kinds: ContentKinds): { block: object | undefined; lost: (string | undefined)[] } {
  const lost: (string | undefined)[] = []
  const block = writeBlock(part, kinds, (_, field) => lost.push(field))
  return { block: block === undefined ? undefined : (JSON.parse(block) as object), lost }
}

describe('writing', () => {
  test.each<[Part, object | undefined, object | undefined, (string | undefined)[], (string | undefined)[]]>([
    [{ type: 'text', text: 'x' }, { type: 'text', text: 'x' }, { type: 'text', text: 'x' }, [], []],
    [
      { type: 'image', base64: 'QQ==' },
      { type: 'image', data: 'QQ==', mimeType: 'image/png' },
      undefined,
      [],
      [undefined],
    ],
    [
      { type: 'image', base64: 'QQ==', mime: 'image/gif', url: 'https://x' },
      { type: 'image', data: 'QQ==', mimeType: 'image/gif', uri: 'https://x' },
      { type: 'resource_link', uri: 'https://x', name: 'x', mimeType: 'image/gif' },
      [],
      [],
    ],
    [
      { type: 'audio', base64: 'QQ==', url: 'https://x/a' },
      { type: 'audio', data: 'QQ==', mimeType: 'audio/wav' },
      { type: 'resource_link', uri: 'https://x/a', name: 'a' },
      [],
      [],
    ],
    [
      { type: 'file', base64: 'QQ==', name: 'a.bin' },
      { type: 'resource', resource: { uri: 'file:///a.bin', blob: 'QQ==' } },
      undefined,
      [],
      [undefined],
    ],
    [
      { type: 'file', base64: 'QQ==', mime: 'text/plain' },
      { type: 'resource', resource: { uri: 'file:///file', mimeType: 'text/plain', blob: 'QQ==' } },
      undefined,
      [],
      [undefined],
    ],
    [
      { type: 'file', url: 'https://x/a/b.txt/?q', bytes: 3 },
      { type: 'resource_link', uri: 'https://x/a/b.txt/?q', name: 'b.txt', size: 3 },
      { type: 'resource_link', uri: 'https://x/a/b.txt/?q', name: 'b.txt', size: 3 },
      [],
      [],
    ],
    [
      { type: 'file', url: '/' },
      { type: 'resource_link', uri: '/', name: '/' },
      { type: 'resource_link', uri: '/', name: '/' },
      [],
      [],
    ],
    [
      { type: 'file', url: 'https://x/a', ref: 'r' },
      { type: 'resource_link', uri: 'https://x/a', name: 'a' },
      { type: 'resource_link', uri: 'https://x/a', name: 'a' },
      ['ref'],
      ['ref'],
    ],
    [{ type: 'reasoning', text: 'x' }, undefined, undefined, [undefined], [undefined]],
    [{ type: 'data', json: '[1]' }, { type: 'text', text: '[1]' }, { type: 'text', text: '[1]' }, ['type'], ['type']],
    [
      { type: 'text', text: 'x', ext: { protocol: 'zot', json: '{}' } },
      { type: 'text', text: 'x' },
      { type: 'text', text: 'x' },
      ['ext'],
      ['ext'],
    ],
  ])('%j', (part, all, none, lostOfAll, lostOfNone) => {
    expect(written(part, ALL_KINDS)).toEqual({ block: all, lost: lostOfAll })
    expect(written(part, NONE)).toEqual({ block: none, lost: lostOfNone })
  })

  test('a block that was read is written as it was, where the other side takes its kind', () => {
    const annotated = (type: string, more: object) => ({ type, ...more, annotations: { priority: 1 } })
    const blocks = [
      annotated('image', { data: 'QQ==', mimeType: 'image/png' }),
      annotated('audio', { data: 'QQ==', mimeType: 'audio/wav' }),
      annotated('resource', { resource: { uri: 'x:y', text: 'T' } }),
      annotated('resource_link', { uri: 'x:y', name: 'y' }),
    ]
    for (const block of blocks) expect(written(readBlock(json(block)), ALL_KINDS)).toEqual({ block, lost: [] })
    const narrow = blocks.map((block) => written(readBlock(json(block)), NONE).block)
    expect(narrow).toEqual([undefined, undefined, { type: 'text', text: 'x:y:\nT' }, blocks[3]])
  })

  test('any text is written and read as it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(readBlock(textBlock(text))).toEqual({ type: 'text', text })
      }),
    )
  })
})

test('stops go both ways', () => {
  for (const reason of ['end_turn', 'max_tokens', 'max_turn_requests', 'refusal', 'cancelled']) {
    expect(reasonOf(stopOf(reason))).toEqual({ reason, exact: true })
  }
  expect(stopOf('toString')).toBeUndefined()
  expect(reasonOf(undefined)).toEqual({ reason: 'end_turn', exact: true })
  const others: Stop[] = ['content-filter', 'stop-sequence', 'max-budget']
  expect(others.map(reasonOf)).toEqual([
    { reason: 'refusal', exact: false },
    { reason: 'end_turn', exact: false },
    { reason: 'end_turn', exact: false },
  ])
})

test('every error has a code of JSON-RPC or of the protocol', () => {
  const codes = Object.fromEntries(Object.entries(errors).map(([name, { code }]) => [name, Number(code)]))
  expect(codes).toMatchObject({
    'invalid-request': -32602,
    unauthenticated: -32000,
    'provider-auth': -32000,
    'session-not-found': -32002,
    cancelled: -32800,
    overloaded: -32603,
    internal: -32603,
  })
})
