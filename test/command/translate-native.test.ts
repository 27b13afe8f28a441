import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadCodecs } from '../../codecs/index.ts'
import { type Party, plainWire, type Translated, translate } from '../../src/translate/index.ts'
import { optionsOf } from '../kit/mirror.ts'

/** Native is the model on a wire: what any protocol becomes there means the same when it is read back. */

const codecs = await loadCodecs()
const text = readFileSync(join(import.meta.dirname, 'cases/translate-agent.md'), 'utf8')
const cases = [...text.matchAll(/^turnpike translate --from (\S+) --to model\n```\n\n```stdin\n([\s\S]*?)^```$/gm)].map(
  ([, name, wire]) => ({ name: name!, wire: wire! }),
)

function partyOf(name: string): Party {
  const [protocol, dialect] = name.split('@') as [string, string | undefined]
  const codec = codecs[protocol]!
  return { codec, dialect: dialect ?? Object.keys(codec.dialects)[0]!, options: optionsOf(codec) }
}

function agentSaid(wire: string, from: string, to: Party | 'canonical'): Translated {
  return translate([plainWire('agent', wire)], { from: partyOf(from), to, of: 'agent' })
}

/** The values of the model, without the greeting that a wire of native begins with. */
function valuesOf({ out }: Translated): unknown[] {
  const values = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string })
  return values.filter(({ type }) => type !== 'agent-ready')
}

describe('what agents said, as native and back', () => {
  test('every protocol has a case', () => {
    expect(cases.map(({ name }) => name.split('@')[0])).toEqual(expect.arrayContaining(Object.keys(codecs)))
  })

  test.each(cases)('$name', ({ name, wire }) => {
    const native = agentSaid(wire, name, partyOf('native'))
    expect(native.losses).toEqual([])
    expect(native.faults).toEqual([])
    const back = agentSaid(native.out, 'native', 'canonical')
    expect(valuesOf(back)).toEqual(valuesOf(agentSaid(wire, name, 'canonical')))
    expect(back.losses).toEqual([])
  })
})
