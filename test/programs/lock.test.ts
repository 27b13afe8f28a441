import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

interface Package {
  version: string
  license?: string
  resolved?: string
  dependencies?: Record<string, string>
}

const read = (file: string): unknown => JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8'))
const { dependencies } = read('package.json') as { dependencies: Record<string, string> }
const { '': root, ...packages } = (read('package-lock.json') as { packages: Record<string, Package> }).packages

/** Packages without a usual licence in their manifest, and what they are under. */
const OTHERS: Readonly<Record<string, string>> = {
  'node_modules/@qwen-code/qwen-code': 'Apache-2.0, in its LICENSE file',
  'node_modules/argparse': 'PSF-2.0, which asks for a notice alone; nothing of it is passed on',
  'node_modules/json-schema': 'BSD-3-Clause, at choice',
}

test('programs are locked to one version each, from any registry', () => {
  expect(root!.dependencies).toEqual(dependencies)
  for (const [name, version] of Object.entries(dependencies)) {
    expect([name, packages[`node_modules/${name}`]?.version]).toEqual([name, version])
  }
  expect(Object.values(packages).filter(({ resolved }) => resolved !== undefined)).toEqual([])
})

test('what is installed of them is under permissive licences', () => {
  const usual = /^(MIT|Apache-2\.0|BSD-[23]-Clause|ISC|0BSD)$/
  const others = Object.entries(packages).filter(([, { license = '' }]) => !usual.test(license))
  expect(others.map(([place]) => place)).toEqual(Object.keys(OTHERS))
})
