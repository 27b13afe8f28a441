import { existsSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { describe, expect, test } from 'vitest'
import { filesOf, importsOf, ROOT, read, SOURCES } from './sources.ts'

interface Manifest {
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  license?: string
  repository?: string | { url: string }
  scripts?: Record<string, string>
  allowScripts?: Record<string, boolean>
  engines?: { node?: string }
}

interface Locked extends Manifest {
  version: string
  dev?: boolean
  hasInstallScript?: boolean
  deprecated?: string
}

const MANIFEST = JSON.parse(read('package.json')) as Manifest
const LOCKED = (JSON.parse(read('package-lock.json')) as { packages: Record<string, Locked> }).packages
const DOCUMENT = read('docs/dependencies.md')
/** What is installed with the package: what the library imports and what the bundle of the program leaves outside. */
const INSTALLED = Object.keys(MANIFEST.dependencies!)
/** What is shipped inside of the bundle: needed to build it, installed by nobody. */
const BUNDLED = [
  '@hono/node-server',
  '@preact/signals',
  '@valibot/to-json-schema',
  'hono',
  'pino',
  'preact',
  'yaml',
  'zod',
]
const RUNTIME = [...INSTALLED, ...BUNDLED]
const DEVELOPMENT = Object.keys(MANIFEST.devDependencies!).filter((name) => !BUNDLED.includes(name))

/** Licences under which everything that is shipped may be used, changed and passed on with a notice alone. */
const LICENCES = ['MIT', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', '0BSD', 'BlueOak-1.0.0']

/** Packages that would run something when they are installed, and why they work without. */
const INSTALL_SCRIPTS: Readonly<Record<string, string>> = {
  protobufjs: 'prints a warning about version ranges; comes with the OpenTelemetry SDK',
  esbuild: 'replaces its launcher by the platform package, which it finds without that too; for the build only',
}

/** Everything that is shipped, installed or bundled, as places in `node_modules`. */
function productionTree(): string[] {
  const places = new Set<string>()
  const visit = (from: string, { dependencies, optionalDependencies }: Manifest): void => {
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const place = resolved(from, name)
      if (place === undefined || places.has(place)) continue
      places.add(place)
      visit(place, LOCKED[place]!)
    }
  }
  visit('', { dependencies: Object.fromEntries(RUNTIME.map((name) => [name, ''])) })
  return [...places].sort()
}

/** Where a package finds another: beside itself, or in a folder above. */
function resolved(from: string, name: string): string | undefined {
  for (
    let folder = from;
    ;
    folder = folder.split('node_modules/').slice(0, -1).join('node_modules/').replace(/\/$/, '')
  ) {
    const place = posix.join(folder, 'node_modules', name)
    if (place in LOCKED) return place
    if (folder === '') return undefined
  }
}

const PRODUCTION = productionTree()

function nameOf(place: string): string {
  return place.split('node_modules/').at(-1)!
}

function manifestOf(place: string): Manifest {
  const file = join(ROOT, place, 'package.json')
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Manifest) : LOCKED[place]!
}

/** Whether a range of `engines.node` takes `ours` and every later version: it has a floor, and that is not above. */
function takes(range: string, ours: readonly number[]): boolean {
  return range.split('||').some((alternative) => {
    const [, operator, version = ''] = /^\s*(>=|\^)?\s*([\dx*.]+)\s*$/.exec(alternative) ?? []
    const floor = version.split('.').map((digits) => Number(digits) || 0)
    const difference = [0, 1, 2].map((at) => (ours[at] ?? 0) - (floor[at] ?? 0)).find((part) => part !== 0) ?? 0
    return operator === '>=' && version !== '' && difference >= 0
  })
}

/** The headings of the document with a package's name, and the text below each. */
function described(name: string): string | undefined {
  return DOCUMENT.split(/^### /m).find((section) =>
    section
      .split('\n')[0]!
      .split(/[`,\s]+/)
      .includes(name),
  )
}

/** The packages that a source file and all that it imports need, types included. */
function packagesFrom(file: string): Set<string> {
  const packages = new Set<string>()
  const files = [file]
  for (const path of files)
    for (const { to } of SOURCES.find((source) => source.path === path)!.imports) {
      if (to.endsWith('.ts') && !files.includes(to)) files.push(to)
      else if (!to.endsWith('.ts') && !to.startsWith('node:')) packages.add(to)
    }
  return packages
}

describe('the document', () => {
  test.each([...RUNTIME, ...DEVELOPMENT])('says what %s is for, its version, licence and repository', (name) => {
    const section = described(name)
    expect(section, `docs/dependencies.md has no heading with ${name}`).toBeDefined()
    const range = { ...MANIFEST.dependencies, ...MANIFEST.devDependencies }[name]!
    expect(section).toContain(`\`${range}\``)
    const { license, repository } = manifestOf(`node_modules/${name}`)
    expect(section).toContain(license)
    const url = typeof repository === 'string' ? repository : repository!.url
    expect(section).toContain(/([^/:]+\/[^/]+?)(?:\.git)?$/.exec(url)![1])
  })

  test('describes nothing that is not there', () => {
    const headings = [...DOCUMENT.matchAll(/^### (.*)$/gm)].flatMap(([, names]) => names!.match(/[^`,\s]+/g)!)
    expect(headings.sort()).toEqual([...RUNTIME, ...DEVELOPMENT].sort())
  })
})

describe('packages', () => {
  test('the tree is found', () => {
    expect(PRODUCTION).toEqual(expect.arrayContaining(RUNTIME.map((name) => `node_modules/${name}`)))
    const installed = INSTALLED.map((name) => LOCKED[`node_modules/${name}`])
    expect(installed.filter((locked) => locked!.dev)).toEqual([])
    expect(BUNDLED.filter((name) => !(name in MANIFEST.devDependencies!))).toEqual([])
  })

  test('every one that is shipped has a permissive licence', () => {
    const others = PRODUCTION.map((place) => ({ place, licence: manifestOf(place).license ?? 'none' }))
      .filter(({ licence }) => !licence.split(/ OR /).some((one) => LICENCES.includes(one.replace(/[()]/g, ''))))
      .map(({ place, licence }) => `${place}: ${licence}`)
    expect(others).toEqual([])
  })

  test('none is deprecated', () => {
    expect(
      Object.entries(LOCKED)
        .filter(([, { deprecated }]) => deprecated)
        .map(([place]) => place),
    ).toEqual([])
  })

  test('none runs anything when it is installed', () => {
    expect(read('deploy/bootstrap.sh')).toContain('npm ci --ignore-scripts ')
    expect(Object.keys(INSTALL_SCRIPTS).filter((name) => MANIFEST.allowScripts![name] !== false)).toEqual([])
    const locked = Object.entries(LOCKED).filter(([, { hasInstallScript }]) => hasInstallScript)
    const own = PRODUCTION.filter((place) => {
      const { preinstall, install, postinstall } = manifestOf(place).scripts ?? {}
      return preinstall ?? install ?? postinstall
    })
    const names = new Set([...locked.map(([place]) => nameOf(place)), ...own.map(nameOf)])
    expect([...names].sort()).toEqual(Object.keys(INSTALL_SCRIPTS).sort())
  })

  test('all that are shipped run on the oldest Node.js that we promise', () => {
    const ours = /^>=(\d+)\.(\d+)(?:\.(\d+))?$/
      .exec(MANIFEST.engines!.node!)!
      .slice(1)
      .map((part) => Number(part ?? 0))
    const newer = PRODUCTION.map((place) => ({ place, range: manifestOf(place).engines?.node ?? '>=0' }))
      .filter(({ range }) => !takes(range, ours))
      .map(({ place, range }) => `${place} needs Node.js ${range}`)
    expect(newer).toEqual([])
  })

  test('the code imports what package.json lists, and nothing else', () => {
    const imported = SOURCES.flatMap(({ imports }) => imports.map(({ to }) => to))
    const packages = imported.filter((to) => !to.startsWith('node:') && !/\.(?:tsx?|css)$/.test(to))
    expect([...new Set(packages)].sort()).toEqual([...RUNTIME].sort())
  })

  test('what is installed with the package is what the library imports and the bundle leaves outside', () => {
    const [, listed] = /external: \[(.*)\]/.exec(read('deploy/build.mjs'))!
    const external = listed!.match(/[^',\s*]+/g)!
    const outside = SOURCES.flatMap(({ imports }) => imports.map(({ to }) => to)).filter((to) =>
      external.some((name) => (name.endsWith('/') ? to.startsWith(name) : to === name)),
    )
    expect([...new Set([...outside, ...packagesFrom('src/index.ts')])].sort()).toEqual([...INSTALLED].sort())
  })

  test('every development package is used', () => {
    const tests = [...filesOf(['test']), 'vitest.config.ts'].flatMap((path) => importsOf(path, read(path)))
    const used = new Set(tests.map(({ to }) => to))
    const scripts = [
      ...filesOf(['deploy'], '.mjs'),
      'deploy/test.sh',
      'package.json',
      'tsconfig.json',
      'vitest.config.ts',
    ]
      .map(read)
      .join('\n')
    /** Where it is named when no test imports it. */
    const signs: Readonly<Record<string, RegExp>> = {
      '@biomejs/biome': /\bbiome check\b/,
      '@types/node': /"types": \["node"\]/,
      '@types/pg': /"pg":/,
      '@vitest/coverage-v8': /provider: 'v8'/,
      esbuild: /from 'esbuild'/,
      typescript: /\btsc --noEmit\b/,
    }
    expect(DEVELOPMENT.filter((name) => !used.has(name) && !signs[name]?.test(scripts))).toEqual([])
  })
})
