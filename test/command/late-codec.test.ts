import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as v from 'valibot'
import { expect, onTestFinished, test } from 'vitest'
import { codecNames, loadCodecs } from '../../codecs/index.ts'
import { codecInfos } from '../../src/cli/configured.ts'
import { builtCodec, factsOf, lateInfo } from '../../src/cli/late-codec.ts'
import type { AnyCodec } from '../../src/contract/index.ts'
import { CLIENTS, runTurnpike } from '../kit/clients.ts'
import { AGENTS } from '../kit/gateway.ts'

const codecs = await loadCodecs()
const infos = codecInfos(codecs)

test.each(codecNames)('what is kept of %s says of it what the codec says', (name) => {
  const facts = factsOf(codecs[name]!)
  if (!facts) {
    expect(codecs[name]!.profile).toBeDefined()
    return
  }
  const kept = JSON.parse(JSON.stringify(facts)) as typeof facts
  let loads = 0
  const late = lateInfo(kept, () => {
    loads += 1
    return codecs[name]!
  })
  const { options, ...info } = infos[name]!
  expect(late).toMatchObject(info)
  expect(late.options.keys).toEqual(options.keys)
  const validated = (schema: typeof options.schema, value: unknown) => schema['~standard'].validate(value)
  expect(validated(late.options.schema, {})).toEqual({ value: kept.plain })
  expect(validated(options.schema, {})).toMatchObject({ value: kept.plain })
  expect(loads).toBe(0)
  expect(validated(late.options.schema, { nonsense: 1 })).toEqual(validated(options.schema, { nonsense: 1 }))
  expect(loads).toBe(1)
})

test('a codec is always loaded that needs options of each agent, or whose options are no JSON', () => {
  const withOptions = (schema: v.GenericSchema): AnyCodec => ({ ...codecs['zot']!, options: { schema, keys: [] } })
  expect(factsOf(withOptions(v.object({ name: v.string() })))).toBeUndefined()
  expect(factsOf(withOptions(v.object({ at: v.optional(v.date(), new Date(0)) })))).toBeUndefined()
  expect(factsOf(withOptions(v.object({ n: v.optional(v.bigint(), 1n) })))).toBeUndefined()
})

test('nothing but a codec is loaded', () => {
  expect(() => builtCodec('../../etc')).toThrow('there is no codec')
})

test('a stand-in loads the codecs of other agents only for turns of theirs', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-late-codec-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const config = join(folder, 'turnpike.yaml')
  writeFileSync(
    config,
    `default: a
agents:
  a: { protocol: agentproc, command: ${AGENTS}/helper.sh, args: [] }
  coder: { protocol: zot, command: ${process.execPath}, args: [${AGENTS}/coder.mjs, rpc] }
  other: { protocol: acp, command: none }
store: { path: ":memory:" }
`,
  )
  /** The codecs that a run has loaded, which is successful. */
  const loaded = async (id: string, ...more: string[]): Promise<string[]> => {
    const cache = join(folder, id)
    const input = CLIENTS.zene.write({ text: 'hi', session: id, id })
    const env = { XDG_RUNTIME_DIR: folder, TURNPIKE_CACHE: cache }
    const ran = await runTurnpike(['as', 'zene', '--config', config, ...more], input, env)
    expect(JSON.parse(ran.stdout)).toMatchObject({ ok: true })
    return readdirSync(cache).flatMap((name) => /^codecs-(.*)-index/.exec(name)?.[1] ?? [])
  }
  expect(await loaded('first')).toEqual(['acp', 'agentproc', 'zene', 'zot'])
  expect(await loaded('second')).toEqual(['agentproc', 'zene'])
  expect(await loaded('third', '--agent', 'coder')).toEqual(['agentproc', 'zene', 'zot'])
})
