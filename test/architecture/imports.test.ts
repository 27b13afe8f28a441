import { join } from 'node:path'
import { build, transform } from 'esbuild'
import { describe, expect, test } from 'vitest'
import { COLD_STARTS, covers, IMPURE, NAMELESS, PARTS, PURE, partOf, ruleOf, SIDE_DOORS } from './rules.ts'
import { type Import, importsOf, ROOT, SOURCES, type Source, target } from './sources.ts'

/** Loaded by `process.getBuiltinModule`, which the bundler does not know, wherever the table says lazily. */
const BUILTINS: ReadonlySet<string> = new Set(['node:sqlite', 'node:crypto'])
const byPath = new Map(SOURCES.map((source) => [source.path, source]))

/** The part that an import enters, or the package or module itself. */
function entered({ to }: Import): string {
  return /^(?:src|codecs|routes|observability|console)\//.test(to) ? (partOf(to) ?? to) : to
}

function listed(patterns: readonly string[] | undefined, name: string): boolean {
  return patterns?.some((pattern) => covers(pattern, name)) ?? false
}

/** Why an import is against the table, or undefined. */
function objection({ path }: Source, one: Import): string | undefined {
  const own = partOf(path)
  if (own === undefined) return 'no part of the table covers this file'
  const to = entered(one)
  if (to === own) return undefined
  const { may, types, lazy } = ruleOf(own)
  if (listed(may, to)) return wrongDoor(one)
  if (listed(lazy, to)) return one.kind === 'static' ? `${own} may import ${to} by import() only` : wrongDoor(one)
  if (listed(types, to)) return one.kind === 'type' ? wrongDoor(one) : `${own} may import only types of ${to}`
  return `${own} may not import ${to}`
}

function wrongDoor({ to }: Import): string | undefined {
  const part = /^(?:src|codecs|routes|observability|console)\//.test(to) ? partOf(to) : undefined
  if (part === undefined || part.endsWith('.ts') || to === `${part}/index.ts` || to in SIDE_DOORS) return undefined
  return `${part} is entered through its index.ts, not through ${to}`
}

/** Every file and module that a file loads with itself, with the file that first asked for each. */
function reach(from: string): Map<string, string> {
  const reached = new Map<string, string>()
  const waiting = [from]
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    for (const { kind, to } of byPath.get(path)?.imports ?? []) {
      if (kind !== 'static' || reached.has(to)) continue
      reached.set(to, path)
      waiting.push(to)
    }
  }
  return reached
}

describe('the scanner', () => {
  test('knows every form of an import', () => {
    const text = [
      "import a, { b } from 'valibot'",
      "import type { C } from '../model/index.ts'",
      'import {',
      '  d,',
      '  type E,',
      "} from './d.ts'",
      "import '@scope/name/sub/path.js'",
      "export * from './e.ts'",
      "export type { F } from './f.ts'",
      "// import g from 'no'",
      "/** `import('no')` */",
      "const h = () => import('./h.ts')",
      "let i: typeof import('node:fs')",
      "let j: import('rxjs').Observable<string>",
      "process.getBuiltinModule('node:sqlite')",
      'import(name)',
      "export const from = 'nowhere'",
    ].join('\n')
    const found = importsOf('src/x/y.ts', text).map(({ kind, to, line }) => `${line} ${kind} ${to}`)
    expect(found).toEqual([
      '1 static valibot',
      '2 type src/model/index.ts',
      '3 static src/x/d.ts',
      '7 static @scope/name',
      '8 static src/x/e.ts',
      '9 type src/x/f.ts',
      '12 lazy src/x/h.ts',
      '13 type node:fs',
      '14 type rxjs',
      '15 lazy node:sqlite',
      '16 lazy (computed)',
    ])
  })

  test('finds what the bundler finds', async () => {
    const { metafile } = await build({
      entryPoints: SOURCES.map(({ path }) => join(ROOT, path)),
      absWorkingDir: ROOT,
      bundle: true,
      write: false,
      metafile: true,
      outdir: 'unused',
      format: 'esm',
      platform: 'node',
      plugins: [
        {
          name: 'apart',
          setup: ({ onResolve }) => onResolve({ filter: /^[^/]/ }, ({ path }) => ({ path, external: true })),
        },
      ],
    })
    // What elements are compiled to imports one more entry of their package.
    const bundler = Object.entries(metafile.inputs).flatMap(([path, { imports }]) =>
      imports
        .filter(({ path: to }) => to !== 'preact/jsx-runtime')
        .map(({ path: to, kind }) => `${path} ${kind === 'dynamic-import' ? 'lazy' : 'static'} ${target(path, to)}`),
    )
    const own = SOURCES.flatMap(({ path, imports }) =>
      imports
        .filter(({ kind, to }) => kind !== 'type' && !(kind === 'lazy' && BUILTINS.has(to)))
        .map(({ kind, to }) => `${path} ${kind} ${to}`),
    )
    expect([...new Set(own)].sort()).toEqual([...new Set(bundler)].sort())
  })
})

describe('who imports what', () => {
  test.each([
    ['codecs/zot/back/index.ts', "import { text } from '../../zene/text.ts'", 'codecs/zot may not import codecs/zene'],
    ['codecs/zot/back/index.ts', "import { join } from 'node:path'", 'codecs/zot may not import node:path'],
    ['codecs/zot/back/index.ts', "import type { Observable } from 'rxjs'", 'codecs/zot may not import rxjs'],
    [
      'codecs/index.ts',
      "import { codec } from './zot/index.ts'",
      'codecs/index.ts may import codecs/zot by import() only',
    ],
    ['src/engine/turn/turn.ts', "const h = import('hono')", 'src/engine/turn may not import hono'],
    [
      'src/engine/turn/turn.ts',
      "import type { Recorder } from '../record/index.ts'",
      'src/engine/turn may not import src/engine/record',
    ],
    [
      'src/stdio.ts',
      "import { fault } from './contract/index.ts'",
      'src/stdio.ts may import only types of src/contract',
    ],
    ['src/cli/as.ts', "import { Engine } from '../engine/index.ts'", 'src/cli may import only types of src/engine'],
    [
      'routes/app.ts',
      "import { Engine } from '../src/engine/engine.ts'",
      'src/engine is entered through its index.ts, not through src/engine/engine.ts',
    ],
    ['src/other/x.ts', "import 'zod'", 'no part of the table covers this file'],
    ['codecs/zot/back/index.ts', "import { fault } from '../../../src/model/index.ts'", undefined],
    ['codecs/agentproc/v01/back/index.ts', "import { errors } from '../../errors.ts'", undefined],
    ['src/backends/http.ts', "import type { Agent } from 'undici'", undefined],
    ['src/index.ts', "export { decode$ } from './engine/replay/index.ts'", undefined],
  ])('in %s, %s: %s', (path, text, why) => {
    const imports = importsOf(path, text)
    expect(objection({ path, text, imports }, imports[0]!)).toBe(why)
  })

  test.each(PARTS.map(({ path }) => path))('%s', (path) => {
    const files = SOURCES.filter((source) => covers(path, source.path) && ruleOf(partOf(source.path)!).path === path)
    const broken = files.flatMap((source) =>
      source.imports.flatMap((one) => {
        const why = objection(source, one)
        return why === undefined ? [] : `${source.path}:${one.line} ${why}`
      }),
    )
    expect(broken).toEqual([])
    expect(files.length).toBeGreaterThan(0)
  })

  test('every source file belongs to a part', () => {
    expect(SOURCES.filter(({ path }) => partOf(path) === undefined).map(({ path }) => path)).toEqual([])
  })

  test('nothing in the table is allowed that nobody needs', () => {
    const unused = PARTS.flatMap(({ path, may, types, lazy }) => {
      const imports = SOURCES.filter((source) => ruleOf(partOf(source.path)!).path === path).flatMap(
        (source) => source.imports,
      )
      const allowed = [...may, ...(types ?? []), ...(lazy ?? [])]
      const idle = allowed.filter((pattern) => !imports.some((one) => covers(pattern, entered(one))))
      return idle.map((name) => `${path}: ${name}`)
    })
    expect(unused).toEqual([])
  })

  test('no import cycle between parts', () => {
    const edges = new Map<string, Set<string>>()
    for (const source of SOURCES) {
      const from = partOf(source.path)!
      for (const one of source.imports) {
        if (entered(one) !== from && byPath.has(one.to))
          edges.set(from, (edges.get(from) ?? new Set()).add(entered(one)))
      }
    }
    const cycles: string[] = []
    const walk = (part: string, trail: readonly string[]): void => {
      if (trail.includes(part)) cycles.push([...trail.slice(trail.indexOf(part)), part].join(' -> '))
      else for (const next of edges.get(part) ?? []) walk(next, [...trail, part])
    }
    for (const part of edges.keys()) walk(part, [])
    expect(cycles).toEqual([])
  })
})

describe('what is not loaded at the start', () => {
  test('what is loaded is followed from file to file', () => {
    const loaded = [...reach('src/cli/serve.ts').keys()]
    expect(loaded).toEqual(expect.arrayContaining(['hono', 'rxjs', 'zod', 'src/engine/turn/turn.ts']))
    expect(loaded).not.toContain('codecs/zot/index.ts')
  })

  test.each(COLD_STARTS.map(({ from, never }) => [from, never] as const))('%s', (from, never) => {
    expect(byPath.has(from)).toBe(true)
    const loaded = [...reach(from)].filter(([to]) => listed(never, to)).map(([to, by]) => `${by} imports ${to}`)
    expect(loaded).toEqual([])
  })
})

/** The list of the conformance suites names every protocol that has some. */
const SUITES = 'src/conformance/suites.ts'

describe('what code may not do', () => {
  const protocols = [...new Set(SOURCES.flatMap(({ path }) => /^codecs\/([^/]+)\//.exec(path)?.[1] ?? []))]

  test.each(NAMELESS)('%s names no protocol', (part) => {
    const name = new RegExp(`(['"\`])(?:${protocols.join('|')})(?:@[^'"\`]*)?\\1`)
    const named = SOURCES.filter(({ path }) => partOf(path) === part && path !== SUITES).flatMap(({ path, text }) =>
      text
        .split('\n')
        .map((line, at) => ({ line, at: at + 1 }))
        .filter(({ line }) => name.test(line) && !/^\s*(?:\/\*\*|\*|\/\/)/.test(line))
        .map(({ at, line }) => `${path}:${at} ${line.trim()}`),
    )
    expect(named).toEqual([])
  })

  test.each(PURE)('%s is pure', async (part) => {
    const files = SOURCES.filter(({ path }) => covers(part, path))
    const broken = await Promise.all(
      files.map(async ({ path, text }) => {
        // Without types and comments.
        const { code } = await transform(text, { loader: 'ts', legalComments: 'none' })
        return Object.entries(IMPURE)
          .filter(([, pattern]) => pattern.test(code))
          .map(([what]) => `${path} uses ${what}`)
      }),
    )
    expect(broken.flat()).toEqual([])
  })
})
