import { describe, expect, test } from 'vitest'
import { codecNames, loadCodec, loadCodecs, protocolOfProgram, standInFacts } from '../../codecs/index.ts'
import { loadSuites, testedProtocols } from '../../src/conformance/suites.ts'
import { ERROR_CODES, ITEMS } from '../../src/model/index.ts'

describe('the list of codecs', () => {
  test('gives every one under its own name, and nothing for others', async () => {
    const codecs = await loadCodecs()
    expect(Object.keys(codecs)).toEqual([...codecNames])
    for (const [name, codec] of Object.entries(codecs)) expect(codec.name).toBe(name)
    expect(await loadCodec('nothing')).toBeUndefined()
    expect(await loadCodec('constructor')).toBeUndefined()
  })

  test('gives the conformance suites of those that have some, and nothing for others', async () => {
    for (const name of testedProtocols) expect(await loadSuites(name)).toBeDefined()
    expect(await loadSuites('nothing')).toBeUndefined()
    expect(await loadSuites('constructor')).toBeUndefined()
  })
})

describe('programs', () => {
  test('are stood in for under their names', () => {
    expect(['zene', 'zot', 'qwen', 'openharness', ''].map(protocolOfProgram)).toEqual([
      'zene',
      'zot',
      'qwen',
      undefined,
      undefined,
    ])
  })

  test('of protocols that there are not need nothing', () => {
    expect(standInFacts('nothing')).toEqual({})
    expect(standInFacts('constructor')).toEqual({})
  })
})

describe.each([...codecNames])('%s', (name) => {
  test('its stand-ins hand on exactly the variables that its fronts read', async () => {
    const codec = await loadCodec(name)
    const read = Object.values(codec!.dialects).flatMap(({ front }) => front?.env ?? [])
    expect([...(standInFacts(name).env ?? [])].sort()).toEqual([...new Set(read)].sort())
  })

  test('maps every error of the closed list to a code and an HTTP error status', async () => {
    const codec = await loadCodec(name)
    expect(Object.keys(codec!.errors).sort()).toEqual([...ERROR_CODES].sort())
    for (const { code, http } of Object.values(codec!.errors)) {
      expect(code).not.toBe('')
      expect(http).toBeGreaterThanOrEqual(400)
    }
  })

  test('says of every item how well each of its halves carries it', async () => {
    const codec = await loadCodec(name)
    for (const { front, back } of Object.values(codec!.dialects)) {
      for (const half of [front, back]) {
        if (half) expect(Object.keys(half.capabilities).sort()).toEqual([...ITEMS].sort())
      }
    }
  })

  test('its endpoints belong to dialects that have a front', async () => {
    const codec = await loadCodec(name)
    for (const { dialect = Object.keys(codec!.dialects)[0]! } of codec!.endpoints) {
      expect(codec!.dialects[dialect]?.front).toBeDefined()
    }
  })
})

test('no two endpoints take the same requests', async () => {
  const taken = Object.values(await loadCodecs()).flatMap(({ endpoints }) =>
    endpoints.map(({ method, path, header = '' }) => `${method} ${path.replace(/:[^/]+/g, ':')} ${header}`),
  )
  expect(taken.filter((endpoint, at) => taken.indexOf(endpoint) !== at)).toEqual([])
})
