/** The content of messages in each protocol: what is written without a loss is read as what it was. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as acp from '../../codecs/acp/content.ts'
import * as anthropicRead from '../../codecs/anthropic/read-blocks.ts'
import * as anthropicWrite from '../../codecs/anthropic/write-blocks.ts'
import * as chat from '../../codecs/openai/chat/content.ts'
import * as responses from '../../codecs/openai/responses/content.ts'
import * as qwen from '../../codecs/qwen/parts.ts'
import * as zot from '../../codecs/zot/content.ts'
import { elements, type JsonText, member, type Part } from '../../src/model/index.ts'

/** Writes parts, and says what is lost; reads what was written. */
interface Content {
  write(parts: readonly Part[], lost: () => void): JsonText
  /** Undefined for what is refused. */
  read(json: JsonText): readonly Part[] | undefined
  /** Kinds of parts that stand elsewhere than in content, or not as themselves. */
  except?: readonly Part['type'][]
  /** A part as it is read again, where another form of it says the same. */
  asRead?(part: Part): Part
}

const found = (read: readonly Part[] | { wrong: string }): readonly Part[] | undefined =>
  'wrong' in read ? undefined : read

/** The server knows the media type of a file that it has, or that it fetches. */
function withoutMime(part: Part): Part {
  if (part.type !== 'image' && part.type !== 'audio' && part.type !== 'file') return part
  const { mime, ...rest } = part
  return part.base64 === undefined ? rest : part
}

/** Data that is no content part is its text. */
function asText(part: Part): Part {
  if (part.type !== 'data') return withoutMime(part)
  return part.json.startsWith('{"type"') ? part : { type: 'text', text: part.json }
}

const CONTENTS: Readonly<Record<string, Content>> = {
  acp: {
    write: (parts, lost) => `[${parts.flatMap((part) => acp.writeBlock(part, acp.ALL_KINDS, lost) ?? []).join()}]`,
    read: (json) => elements(json).map(acp.readBlock),
    // A link is a file with a name, whose media type says what it is.
    asRead(part) {
      if (part.type !== 'image' && part.type !== 'audio' && part.type !== 'file') return part
      const { url, name, ...rest } = part
      if (url !== undefined) return { ...rest, type: 'file', url, name: name ?? url.slice(url.lastIndexOf('/') + 1) }
      return part.type === 'file' ? { ...rest, url: `file:///${name ?? 'file'}` } : part
    },
  },
  anthropic: {
    write(parts, lost) {
      const written = anthropicWrite.messageJsons([{ role: 'user', parts }], { lost, allows: () => false })
      return member(written[0] ?? '{}', 'content') ?? '[]'
    },
    read: (json) => found(anthropicRead.readContent(json, 'content')),
    except: ['tool-call', 'tool-reply', 'reasoning'],
    // Data of others is its text.
    asRead: (part) => (part.type === 'data' ? { type: 'text', text: part.json } : withoutMime(part)),
  },
  chat: {
    write: chat.contentJson,
    read: (json) => found(chat.readContent(json)),
    asRead: asText,
  },
  responses: {
    write: (parts, lost) => responses.contentJson(parts, 'input_text', lost),
    read: (json) => found(responses.readContent(json)),
    asRead: asText,
  },
  qwen: {
    write: (parts, lost) => qwen.writeParts(parts, lost),
    read: (json) => qwen.readParts(json).parts,
    // An id is written as if it were a URL.
    asRead(part) {
      if (!('ref' in part) || part.ref === undefined) return part
      const { ref, ...rest } = part
      return { ...rest, url: ref }
    },
  },
  zot: {
    write: (parts, lost) => zot.writeContent(parts, lost),
    read: (json) => zot.readContent(json, (id) => id).parts,
  },
}

const text = fc.constantFrom('a', 'é😀', '"\\\n', '\u2028a', '{}')
const id = fc.constantFrom('t1', 'call_2')
const json = fc.constantFrom('{"a":1.0}', '{"type":"new","x":[1e400]}', '[1]', '"s"', '5')
const args = fc.constantFrom('{}', '{"a":1.0}')
/** One place of its bytes: of several, a protocol may choose. */
const blob = fc
  .tuple(
    fc.constantFrom(
      { base64: 'aGk=' },
      { base64: 'AAAA' },
      { url: 'https://h/a.png' },
      { url: 'file:///a' },
      { ref: 'f-7' },
    ),
    fc.constantFrom({}, { name: 'a.png' }, { name: 'b' }),
  )
  .map(([place, name]) => ({ ...place, ...name }))

const part: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ type: fc.constant('text' as const), text }),
  fc.record({ type: fc.constant('data' as const), json }),
  fc.record({ type: fc.constant('reasoning' as const), text }),
  blob.map((one): Part => ({ type: 'image', mime: 'image/png', ...one })),
  blob.map((one): Part => ({ type: 'audio', mime: 'audio/wav', ...one })),
  blob.map((one): Part => ({ type: 'file', mime: 'application/pdf', ...one })),
  fc.record({ type: fc.constant('tool-call' as const), tool: id, name: fc.constant('f'), args }),
  fc.record({ type: fc.constant('diff' as const), path: text, before: fc.constantFrom(null, 'x'), after: text }),
)

describe.each(Object.entries(CONTENTS))('the content of %s', (_, content) => {
  const { write, read, except = [], asRead = (same) => same } = content
  test('has each part as it was, unless something of it is a loss', () => {
    fc.assert(
      fc.property(part, (one) => {
        fc.pre(!except.includes(one.type))
        let lost = 0
        const written = write([one], () => {
          lost += 1
        })
        JSON.parse(written)
        const known = (read(written) ?? []).map(({ ext, ...rest }) => rest)
        // A name or URL that the protocol demands may be added.
        if (lost === 0) expect(known).toMatchObject([asRead(one)])
      }),
      { numRuns: 400 },
    )
  })

  test('keeps the order of its parts', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ type: fc.constant('text' as const), text }), { minLength: 1 }), (parts) => {
        const known = read(write(parts, () => expect.unreachable()))
        expect(known?.map(({ ext, ...rest }) => rest)).toEqual(parts)
      }),
    )
  })

  const word = fc.constantFrom(
    'text',
    'image',
    'file',
    'audio',
    'image_url',
    'input_image',
    'input_file',
    'input_audio',
    'tool_use',
    'tool_result',
    'tool_call',
    'function_response',
    'functionCall',
    'thinking',
    'resource',
    'document',
    'source',
    'content',
    'url',
    'data',
    'id',
    'call_id',
    'response',
    '__proto__',
  )
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.oneof(word, fc.constant(null), fc.integer(), fc.boolean(), fc.constant('data:image/png;base64,AA==')),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.oneof(word, fc.constant('type')), tie('value'), { maxKeys: 4 }),
    ),
  }))

  test('is read or refused, whatever it is', () => {
    fc.assert(
      fc.property(fc.array(value), (blocks) => {
        const raw = JSON.stringify(blocks)
        const parts = read(raw)
        if (parts !== undefined) expect(parts.length).toBe(blocks.length)
      }),
      { numRuns: 300 },
    )
  })
})
