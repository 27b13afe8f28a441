import { describe, expect, test } from 'vitest'
import type { Frame, Framing } from '../../src/contract/index.ts'
import { frames } from './collect.ts'

const BOM = '\ufeff'

const TABLE: Record<Framing, [rule: string, chunks: string[], frames: Frame[]][]> = {
  ndjson: [
    ['one line', ['{"a":1}\n'], ['{"a":1}']],
    ['several lines in a chunk', ['1\n2\n3\n'], ['1', '2', '3']],
    ['a line over chunks', ['{"a"', ':', '1}', '\n'], ['{"a":1}']],
    ['the last line needs no LF', ['1\n2'], ['1', '2']],
    ['CRLF', ['1\r\n2\r\n'], ['1', '2']],
    ['CRLF cut in the middle', ['1\r', '\n2\r', '\n'], ['1', '2']],
    ['only one CR is stripped', ['1\r\r\n'], ['1\r']],
    ['the CR of a last line without LF is stripped', ['1\r'], ['1']],
    ['a lone CR does not split', ['{"a":\r1}\n'], ['{"a":\r1}']],
    ['U+2028, U+2029 and U+0085 do not split', ['"\u2028\u2029\u0085"\n'], ['"\u2028\u2029\u0085"']],
    ['blank lines are skipped', ['\n \t\r\n\n1\n \n'], ['1']],
    ['only the white space of JSON is blank', ['\u00a0\n\u2028\n\f\n'], ['\u00a0', '\u2028', '\f']],
    ['a BOM at the start is dropped', [`${BOM}1\n`], ['1']],
    ['a BOM that comes alone is dropped', ['', BOM, '1\n'], ['1']],
    ['a BOM later stays', [`1\n${BOM}2\n`], ['1', `${BOM}2`]],
    ['only the first BOM is dropped', [`${BOM}${BOM}1\n`], [`${BOM}1`]],
    ['nothing', [], []],
    ['NUL is data', ['"\0"\n'], ['"\0"']],
  ],
  text: [
    ['lines', ['a\nb\n'], ['a', 'b']],
    ['blank lines are frames', ['\n\na\n\n'], ['', '', 'a', '']],
    ['white space stays', ['  a \t\n \n'], ['  a \t', ' ']],
    ['CRLF', ['a\r\n\r\n'], ['a', '']],
    ['the last line needs no LF', ['a\nb'], ['a', 'b']],
    ['no frame after the last LF', ['a\n'], ['a']],
    ['a BOM at the start is dropped', [BOM, `a\n${BOM}b\n`], ['a', `${BOM}b`]],
    ['U+2028 and a lone CR do not split', ['a\u2028b\rc\n'], ['a\u2028b\rc']],
    ['nothing', [], []],
  ],
  body: [
    ['everything', ['a\n', 'b\r\n', '\n'], ['a\nb\r\n\n']],
    ['nothing is an empty frame', [], ['']],
    ['a BOM is dropped', [BOM, 'a'], ['a']],
    ['a BOM later stays', ['a', BOM], [`a${BOM}`]],
  ],
  sse: [
    ['data', ['data: a\n\n'], [{ data: 'a' }]],
    ['data lines are joined by LF', ['data: a\ndata: b\ndata\ndata:\n\n'], [{ data: 'a\nb\n\n' }]],
    ['only one space is stripped', ['data:a\n\ndata:  a\n\n'], [{ data: 'a' }, { data: ' a' }]],
    ['event and id', ['id: 7\nevent: x\ndata: a\n\n'], [{ data: 'a', event: 'x', id: '7' }]],
    [
      'event and id end with their event',
      ['id: 7\nevent: x\ndata: a\n\ndata: b\n\n'],
      [{ data: 'a', event: 'x', id: '7' }, { data: 'b' }],
    ],
    ['an event without data is not dispatched', ['event: x\nid: 1\n\ndata: b\n\n'], [{ data: 'b' }]],
    ['empty data is dispatched', ['data\n\n'], [{ data: '' }]],
    ['an empty event name is none', ['event:\ndata: a\n\n'], [{ data: 'a' }]],
    ['an empty id is one', ['id\ndata: a\n\n'], [{ data: 'a', id: '' }]],
    ['an id with NUL is ignored', ['id: a\0\ndata: a\n\n'], [{ data: 'a' }]],
    ['the last event name counts', ['event: x\nevent: y\ndata: a\n\n'], [{ data: 'a', event: 'y' }]],
    ['comments and unknown fields are ignored', [': hi\nretry: 5\nfoo: 1\ndata: a\n:\n\n'], [{ data: 'a' }]],
    ['a colon inside the value', ['data: {"a":1}\n\n'], [{ data: '{"a":1}' }]],
    ['CRLF', ['data: a\r\n\r\n'], [{ data: 'a' }]],
    ['CR', ['data: a\rdata: b\r\r'], [{ data: 'a\nb' }]],
    ['mixed line ends', ['data: a\r\ndata: b\rdata: c\n\r\n'], [{ data: 'a\nb\nc' }]],
    ['CRLF cut in the middle', ['data: a\r', '\ndata: b\r', '\n\r', '\n'], [{ data: 'a\nb' }]],
    ['CR at the end of a chunk ends the event at once', ['data: a\r\r', 'data: b\n\n'], [{ data: 'a' }, { data: 'b' }]],
    ['an unfinished event is dropped', ['data: a\n\ndata: b\n'], [{ data: 'a' }]],
    ['an unfinished line is dropped', ['data: a\n\ndata: b'], [{ data: 'a' }]],
    ['a BOM at the start is dropped', [BOM, 'data: a\n\n'], [{ data: 'a' }]],
    ['field names are exact', ['Data: a\n data: b\ndata : c\nevents: x\nids: 1\ndata: d\n\n'], [{ data: 'd' }]],
    ['nothing', [], []],
  ],
}

for (const framing of Object.keys(TABLE) as Framing[]) {
  describe(`${framing} reads`, () => {
    test.each(TABLE[framing])('%s', (_rule, chunks, expected) => {
      expect(frames(framing, ...chunks)).toStrictEqual(expected)
    })
  })
}
