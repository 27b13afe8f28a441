import { describe, expect, test } from 'vitest'
import { readDisplay, unifiedDiff } from '../../../codecs/qwen/display.ts'
import { readConversation, writeConversation } from '../../../codecs/qwen/messages.ts'
import { readParts, writeParts } from '../../../codecs/qwen/parts.ts'
import type { Loss, Part } from '../../../src/model/index.ts'

const read = (json: unknown) => readParts(JSON.stringify(json))

/** What parts are on the wire, and what was lost on the way. */
const write = (...parts: Part[]) => {
  const losses: Loss[] = []
  const json = writeParts(parts, (loss) => losses.push(loss))
  return { wire: JSON.parse(json) as unknown[], losses: losses.map(({ kind, item, field }) => [kind, item, field]) }
}

describe('parts', () => {
  test.each<[unknown, Part, boolean?]>([
    ['plain', { type: 'text', text: 'plain' }],
    [{ text: 'a' }, { type: 'text', text: 'a' }],
    [{ type: 'text', text: 'a', z: 1 }, { type: 'text', text: 'a' }, false],
    [
      { text: 'a', thought: true },
      { type: 'reasoning', text: 'a' },
    ],
    [
      { functionCall: { id: 'c', name: 'n', args: { a: 1 } } },
      { type: 'tool-call', tool: 'c', name: 'n', args: '{"a":1}' },
    ],
    [{ type: 'function_call', name: 'n' }, { type: 'tool-call', tool: 'n', name: 'n', args: '{}' }, false],
    [
      { functionResponse: { id: 'c', name: 'n', response: { output: 'o' } } },
      { type: 'tool-reply', tool: 'c', status: 'ok', parts: [{ type: 'text', text: 'o' }] },
      false,
    ],
    [
      { type: 'function_response', name: 'n', response: { error: { code: 1 } } },
      { type: 'tool-reply', tool: 'n', status: 'error', parts: [{ type: 'data', json: '{"code":1}' }] },
      false,
    ],
    [
      { function_response: { response: { any: 1 } } },
      { type: 'tool-reply', tool: '', status: 'ok', parts: [{ type: 'data', json: '{"any":1}' }] },
      false,
    ],
    [{ function_response: { id: 'c' } }, { type: 'tool-reply', tool: 'c', status: 'ok', parts: [] }, false],
    [
      { function_response: { id: 'c', response: null } },
      { type: 'tool-reply', tool: 'c', status: 'ok', parts: [] },
      false,
    ],
    [
      { type: 'file_data', file_data: { file_uri: 'u', mime_type: 'text/x', display_name: 'f' } },
      { type: 'file', mime: 'text/x', name: 'f', url: 'u' },
    ],
    [
      { fileData: { fileUri: 'u', mimeType: 'image/png', displayName: 'f' } },
      { type: 'image', mime: 'image/png', name: 'f', url: 'u' },
    ],
    [{ file_data: { file_uri: 'u', size: 1 } }, { type: 'file', url: 'u' }, false],
    [{ inlineData: { mimeType: 'audio/wav', data: 'AA==' } }, { type: 'audio', mime: 'audio/wav', base64: 'AA==' }],
    [
      { type: 'image_url', image_url: { url: 'http://x' } },
      { type: 'image', url: 'http://x' },
    ],
    [{ type: 'image_url', image_url: { url: 'http://x', detail: 'low' } }, { type: 'image', url: 'http://x' }, false],
    [
      { type: 'image_url', image_url: 'data:image/png;base64,AA==' },
      { type: 'image', mime: 'image/png', base64: 'AA==' },
    ],
    [
      { type: 'image_url', image_url: 'data:;base64,AA==' },
      { type: 'image', base64: 'AA==' },
    ],
    [
      { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
      { type: 'audio', mime: 'audio/wav', base64: 'AA==' },
    ],
    [
      { type: 'input_audio', input_audio: { data: 'AA==' } },
      { type: 'audio', base64: 'AA==' },
    ],
    [{ type: 'input_audio' }, { type: 'data', json: '{"type":"input_audio"}' }, false],
    [{ type: 'image_url' }, { type: 'data', json: '{"type":"image_url"}' }, false],
    [{ functionCall: 1 }, { type: 'data', json: '{"functionCall":1}' }, false],
    [7, { type: 'data', json: '7' }, false],
  ])('read from %j', (wire, part, exact = true) => {
    expect(read([wire])).toEqual({ parts: [part], exact })
    expect(read([wire, wire]).parts).toEqual([part, part])
  })

  test('one part stands for a list of it; nothing is none', () => {
    expect(read('a').parts).toEqual([{ type: 'text', text: 'a' }])
    expect(read({ text: 'a' }).parts).toEqual([{ type: 'text', text: 'a' }])
    expect(read(null).parts).toEqual([])
    expect(readParts(undefined)).toEqual({ parts: [], exact: true })
  })

  test.each<[Part, unknown[], unknown[]?]>([
    [{ type: 'text', text: 'a' }, [{ type: 'text', text: 'a' }]],
    [{ type: 'reasoning', text: 'a' }, [{ type: 'text', text: 'a', thought: true }]],
    [
      { type: 'tool-call', tool: 'c', name: 'n', args: '{"a":1}' },
      [{ type: 'function_call', function_call: { id: 'c', name: 'n', args: { a: 1 } } }],
    ],
    [
      { type: 'image', base64: 'AA==', name: 'f' },
      [{ type: 'inline_data', inline_data: { mime_type: 'image/*', data: 'AA==', display_name: 'f' } }],
    ],
    [
      { type: 'file', ref: 'r' },
      [{ type: 'file_data', file_data: { file_uri: 'r', mime_type: 'application/octet-stream' } }],
    ],
    [{ type: 'audio' }, [], [['dropped', 'part.audio', undefined]]],
    [{ type: 'data', json: '[1]' }, [{ type: 'text', text: '[1]' }], [['weakened', 'part.data', undefined]]],
    [{ type: 'diff', path: 'p', before: null, after: 'a' }, [], [['dropped', 'part.diff', undefined]]],
    [
      { type: 'tool-reply', tool: 'c', status: 'ok', parts: [{ type: 'data', json: '{"any":1}' }] },
      [{ type: 'function_response', function_response: { id: 'c', response: { any: 1 } } }],
    ],
    [
      { type: 'tool-reply', tool: 'c', status: 'ok', parts: [{ type: 'data', json: '[1]' }] },
      [{ type: 'function_response', function_response: { id: 'c', response: { output: [1] } } }],
    ],
    [
      {
        type: 'tool-reply',
        tool: 'c',
        status: 'denied',
        parts: [{ type: 'text', text: 'a' }, { type: 'data', json: '1' }, { type: 'image' }],
      },
      [{ type: 'function_response', function_response: { id: 'c', response: { error: 'a\n1' } } }],
      [
        ['weakened', 'part.tool-reply', 'status'],
        ['weakened', 'part.data', undefined],
        ['dropped', 'part.image', undefined],
      ],
    ],
    [
      { type: 'tool-reply', tool: 'c', status: 'cancelled', parts: [] },
      [{ type: 'function_response', function_response: { id: 'c', response: { error: '' } } }],
      [['weakened', 'part.tool-reply', 'status']],
    ],
    [
      { type: 'tool-reply', tool: 'c', status: 'error', parts: [{ type: 'data', json: '{"n":1}' }] },
      [{ type: 'function_response', function_response: { id: 'c', response: { error: { n: 1 } } } }],
    ],
  ])('%j written', (part, wire, losses = []) => {
    expect(write(part)).toEqual({ wire, losses })
  })
})

describe('messages', () => {
  test('content of every kind', () => {
    const losses: Loss[] = []
    const json = writeConversation(
      undefined,
      [
        { role: 'assistant', parts: [] },
        { role: 'tool', parts: [{ type: 'tool-reply', tool: 'c', status: 'ok', parts: [] }] },
      ],
      [
        { type: 'text', text: 'a' },
        { type: 'image', url: 'http://x' },
        { type: 'image', base64: 'AA==' },
        { type: 'image' },
        { type: 'audio', base64: 'AA==', mime: 'audio/mp3' },
        { type: 'audio', base64: 'AA==' },
        { type: 'audio', url: 'u' },
      ],
      (loss) => losses.push(loss),
    )
    expect(JSON.parse(json)).toEqual([
      { role: 'tool', tool_call_id: 'c', content: '' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'image_url', image_url: { url: 'http://x' } },
          { type: 'image_url', image_url: { url: 'data:image/*;base64,AA==' } },
          { type: 'input_audio', input_audio: { data: 'AA==', format: 'mp3' } },
          { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
        ],
      },
    ])
    expect(losses.map(({ item }) => item)).toEqual(['part.image', 'part.audio'])
  })

  test('calls without what names them', () => {
    const json =
      '[{"role":"assistant","tool_calls":[{},1,{"function":2},{"id":"c","function":{"name":"n","arguments":{"a":1}}}]},{"role":"user","content":"x"}]'
    expect(readConversation(json)!.history).toEqual([
      {
        role: 'assistant',
        parts: [
          { type: 'tool-call', tool: '', name: '', args: '{}' },
          { type: 'tool-call', tool: '', name: '', args: '{}' },
          { type: 'tool-call', tool: '', name: '', args: '{}' },
          { type: 'tool-call', tool: 'c', name: 'n', args: '{"a":1}' },
        ],
      },
    ])
  })

  test('a system message without text is none', () => {
    const json = '[{"role":"system","content":[{"type":"image_url","image_url":"u"}]},{"role":"user","content":"x"}]'
    expect(readConversation(json)).toMatchObject({ systemPrompt: undefined, history: [] })
    expect(readConversation('[{"role":"system","content":"x"}]')).toBeUndefined()
  })
})

describe('displays', () => {
  test('a diff without its versions, a new file, other kinds', () => {
    const of = (json: object) => readDisplay(JSON.stringify(json))
    const partial = { kind: 'file_diff', file_name: 'f' }
    expect(of(partial)).toEqual({ parts: [{ type: 'data', json: JSON.stringify(partial) }], exact: true })
    expect(of({ ...partial, modified: 'n\n', diff: '--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+n' })).toEqual({
      parts: [{ type: 'diff', path: 'f', before: null, after: 'n\n' }],
      exact: true,
    })
    expect(of({ ...partial, modified: 'n\n', diff: 'odd' }).exact).toBe(false)
    expect(readDisplay(undefined)).toEqual({ parts: [], exact: true })
    expect(readDisplay('7')).toEqual({ parts: [{ type: 'data', json: '7' }], exact: true })
  })

  test.each([
    ['a\nb\nc\n', 'a\nx\ny\nc\n', '@@ -2 +2,2 @@\n-b\n+x\n+y'],
    ['a\nb\n', 'a\n', '@@ -2 +1,0 @@\n-b'],
    ['', 'a\nb\n', '@@ -0,0 +1,2 @@\n+a\n+b'],
    ['a\na\n', 'a\na\na\n', '@@ -2,0 +3 @@\n+a'],
    ['same', 'same', ''],
  ])('the difference of %j and %j', (before, after, hunk) => {
    expect(unifiedDiff('f', before, after)).toBe(['--- a/f', '+++ b/f', ...(hunk ? [hunk] : [])].join('\n'))
  })
})
