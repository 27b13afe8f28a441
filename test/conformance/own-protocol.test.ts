/**
 * A turn that is carried to its own protocol loses nothing: every sample of an agent is translated to what it is. What is
 * reported all the same is listed here, each with its reason.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadCodecs } from '../../codecs/index.ts'
import { type AnyCodec, type CallEnd, type Dialect, hasFront } from '../../src/contract/index.ts'
import { plainWire, translate } from '../../src/translate/index.ts'

const CODECS = join(import.meta.dirname, '../../codecs')

interface Setup {
  half?: string
  dialect?: string
  options?: object
  end?: CallEnd | null
}

const LOSSES: Readonly<Record<string, { losses: readonly string[]; why: string }>> = {
  'native/samples/odd.wire': { losses: ['unparsed usage', 'unparsed foreign'], why: 'lines that cannot be read' },
  'native/samples/silent-start.wire': { losses: ['unparsed foreign'], why: 'a line that is no message' },
  'zot/samples/no-hello.wire': { losses: ['unparsed foreign'], why: 'a line that is no message' },
  'openharness/samples/approval.wire': {
    losses: ['dropped ask'],
    why: 'a translation has no next request of the client, which would answer the question',
  },
  'zene/samples/answer-error.wire': {
    losses: ['unparsed foreign', 'dropped ext'],
    why: 'a line that is no message; the flat answer has no place for the members of an error object',
  },
  'zene/samples/answer-lines.wire': {
    losses: ['dropped foreign', 'invented usage.total total_tokens'],
    why: 'the flat answer has one line and no place for events, and must say how many tokens there were',
  },
  'agentproc/v01/samples/cut.wire': {
    losses: ['dropped text-delta max_reply_chars'],
    why: 'the profile wants long replies cut',
  },
  'agentproc/v01/samples/error-after-body.wire': {
    losses: ['weakened message-retract', 'dropped text-delta body'],
    why: 'an error takes back a body that was shown, and makes what stands behind it a diagnostic',
  },
  'agentproc/v01/samples/odd-lines.wire': { losses: ['dropped notice'], why: 'our remark on an id that is not valid' },
  'qwen-code/samples/approval.wire': {
    losses: ['invented turn-started model'],
    why: 'an `init` names a model, and this recording has none',
  },
  'agentproc/v03/samples/odd-lines.wire': {
    losses: ['unparsed foreign', 'dropped notice'],
    why: 'lines that are no events, and our remarks on them',
  },
  'agentproc/v04/samples/error.wire': { losses: ['dropped message-end result'], why: 'a result behind an error' },
  'agentproc/v04/samples/odd-lines.wire': {
    losses: ['unparsed foreign', 'dropped notice'],
    why: 'lines that are no events, and our remark on them',
  },
  'agentproc/v04/samples/permission.wire': {
    losses: ['weakened ask-settled'],
    why: 'the question was not answered, and a client that was asked cannot be told so',
  },
}

const codecs = Object.values(await loadCodecs())

/** The codec whose back half reads a sample. */
function codecOf(file: string, { dialect }: Setup): AnyCodec {
  const folder = join(CODECS, file.split('/')[0]!)
  const name = file.startsWith('qwen/code/') ? 'qwen-code' : file.split('/')[0]
  const found = codecs.find((codec) => codec.name === name && (dialect === undefined || codec.dialects[dialect]))
  if (!found) throw new Error(`no codec reads ${folder}`)
  return found
}

function dialectOf(file: string, setup: Setup): Dialect | undefined {
  const { dialects } = codecOf(file, setup)
  return dialects[setup.dialect ?? Object.keys(dialects)[0]!]
}

const files = readdirSync(CODECS, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.wire'))

const samples = files.flatMap((file) => {
  const setupFile = join(CODECS, file.replace(/\.wire$/, '.setup.json'))
  const setup = (existsSync(setupFile) ? JSON.parse(readFileSync(setupFile, 'utf8')) : {}) as Setup
  return setup.half === 'front' || !hasFront(dialectOf(file, setup)) ? [] : [{ file, setup }]
})

describe('a sample is translated to its own protocol', () => {
  test.each(samples)('$file', ({ file, setup }) => {
    const codec = codecOf(file, setup)
    const dialect = setup.dialect ?? Object.keys(codec.dialects)[0]!
    const checked = codec.options.schema['~standard'].validate(setup.options ?? {})
    const party = { codec, dialect, options: (checked as { value: unknown }).value }
    const wire = {
      ...plainWire('agent', readFileSync(join(CODECS, file), 'utf8')),
      ...(setup.end && { end: setup.end }),
    }
    const { losses } = translate([wire], { from: party, to: party, of: 'agent' })
    const told = losses.map(({ kind, item, field }) => `${kind} ${item}${field === undefined ? '' : ` ${field}`}`)
    expect(told).toEqual(LOSSES[file]?.losses ?? [])
  })

  test('every reason is one of a sample', () => {
    const names = samples.map(({ file }) => file)
    expect(Object.keys(LOSSES).filter((file) => !names.includes(file))).toEqual([])
  })
})
