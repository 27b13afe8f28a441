import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

interface Package {
  version: string
  license?: string
  resolved?: string
  dependencies?: Record<string, string>
}

/** Packages without a usual licence in their manifest, and what they are under. */
const OTHERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '.': {
    'node_modules/@qwen-code/qwen-code': 'Apache-2.0, in its LICENSE file',
    'node_modules/@redocly/openapi-core/node_modules/argparse': 'the same as the next',
    'node_modules/argparse': 'PSF-2.0, which asks for a notice alone; nothing of it is passed on',
    'node_modules/fast-sha256': 'Unlicense: it is in the public domain',
    'node_modules/json-schema': 'BSD-3-Clause, at choice',
    'node_modules/type-fest': 'MIT, at choice',
  },
  '../../docs/site': { 'node_modules/@iconify-json/simple-icons': 'CC0-1.0: icons in the public domain' },
  large: {
    'node_modules/@anthropic-ai/claude-agent-sdk': 'the terms of Anthropic; installed on request, not passed on',
    'node_modules/@anthropic-ai/claude-agent-sdk-*': 'the same',
    'node_modules/@github/copilot': 'the terms of GitHub; installed on request, not passed on',
    'node_modules/@github/copilot-*': 'the same',
    'node_modules/opencode-linux-x64': 'MIT, in the package opencode-ai',
  },
}

const plain = (place: string): string => place.replace(/(claude-agent-sdk-|copilot-).*/, '$1*')

describe.each(Object.entries(OTHERS))('the programs in %s', (folder, expected) => {
  const read = (file: string): unknown => JSON.parse(readFileSync(join(import.meta.dirname, folder, file), 'utf8'))
  const { dependencies } = read('package.json') as { dependencies: Record<string, string> }
  const { '': root, ...packages } = (read('package-lock.json') as { packages: Record<string, Package> }).packages

  test('are locked to one version each, from any registry', () => {
    expect(root!.dependencies).toEqual(dependencies)
    for (const [name, version] of Object.entries(dependencies)) {
      expect([name, packages[`node_modules/${name}`]?.version]).toEqual([name, version])
    }
    expect(Object.values(packages).filter(({ resolved }) => resolved !== undefined)).toEqual([])
  })

  test('are under permissive licences, except those that are named', () => {
    const usual = /^(MIT|Apache-2\.0|BSD-[23]-Clause|ISC|0BSD)$/
    const others = Object.entries(packages).filter(([, { license = '' }]) => !usual.test(license))
    expect([...new Set(others.map(([place]) => plain(place)))]).toEqual(Object.keys(expected))
  })
})
