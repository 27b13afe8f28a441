/**
 * Measures of the structure: sizes of files and functions, fields of classes, members of what constructors take, import
 * cycles, and engine files that no test imports. `node test/architecture/structure.ts` prints them. The layout of
 * declarations is the formatter's, so the scanner reads lines and their indentation.
 */
import { pathToFileURL } from 'node:url'
import { filesOf, importsOf, read, SOURCES, type Source } from './sources.ts'

/** A named place with a count. */
export interface Count {
  readonly place: string
  readonly count: number
}

/** A declaration's own lines, from its head to its closing brace. */
interface Block {
  readonly name: string
  readonly head: string
  readonly body: readonly string[]
}

const CLASS = /^(?:export )?(?:abstract )?class (\w+)/
const INTERFACE = /^(?:export )?interface (\w+)/
const FUNCTION =
  /^(\s{0,2})(?:export )?(?:async )?(?:function\*? (\w+)|(?:static )?(?:async )?(?:get |set )?(#?\w+)(?=\())/
const FIELD = /^ {2}(?:readonly |declare |override )*#?\w+[?!]?(?:: | = |$)/
const MEMBER = /^ {2}(?:readonly )?\w+\??(?:[:(<])/

/** Every declaration whose head matches, with the lines between its braces. */
function blocks(text: string, head: RegExp): Block[] {
  const lines = text.split('\n')
  return lines.flatMap((line, at) => {
    const found = head.exec(line)
    if (!found || line.endsWith('{}')) return []
    const end = lines.findIndex((other, index) => index > at && other.startsWith('}'))
    return [{ name: found[1]!, head: line, body: lines.slice(at + 1, end) }]
  })
}

/** The lines of every file. */
export function fileSizes(sources: readonly Source[] = SOURCES): Count[] {
  return sources.map(({ path, text }) => ({ place: path, count: text.split('\n').length - 1 }))
}

/** The lines of every function and method, its head and closing brace included. */
export function functionSizes(sources: readonly Source[] = SOURCES): Count[] {
  return sources.flatMap(({ path, text }) => {
    const lines = text.split('\n')
    return lines.flatMap((line, at) => {
      const found = FUNCTION.exec(line)
      // A head ends with the brace that opens the body, or is broken over lines.
      if (!found || !/[{(]$/.test(line) || /^\s*(?:if|for|while|switch|return|catch)\b/.test(line)) return []
      const indent = found[1]!
      const end = lines.findIndex(
        (other, index) => index >= at && other.startsWith(`${indent}}`) && !/^\s*} [:&|]/.test(other),
      )
      return end < 0 ? [] : [{ place: `${path} ${found[2] ?? found[3]}`, count: end - at + 1 }]
    })
  })
}

/** The fields of every class. */
export function classFields(sources: readonly Source[] = SOURCES): Count[] {
  return sources.flatMap(({ path, text }) =>
    blocks(text, CLASS).map(({ name, body }) => ({
      place: `${path} ${name}`,
      count: body.filter((line) => FIELD.test(line)).length,
    })),
  )
}

/** For every constructor, the members of the largest interface of the same part that it takes. */
export function constructorMembers(sources: readonly Source[] = SOURCES): Count[] {
  const members = new Map<string, number>()
  for (const { path, text } of sources)
    for (const { name, body } of blocks(text, INTERFACE))
      members.set(`${path} ${name}`, body.filter((line) => MEMBER.test(line)).length)
  return sources.flatMap((source) =>
    blocks(source.text, CLASS).flatMap(({ name, body }) => {
      const at = body.findIndex((line) => line.startsWith('  constructor('))
      if (at < 0) return []
      const end = body.findIndex((line, index) => index >= at && /\{( ?\})?$/.test(line))
      const types = body
        .slice(at, end + 1)
        .join(' ')
        .matchAll(/: (?:Readonly<)?([A-Z]\w+)/g)
      const counts = [...types].map(([, type]) => members.get(`${declaredIn(source, type!)} ${type}`) ?? 0)
      return [{ place: `${source.path} ${name}`, count: Math.max(0, ...counts) }]
    }),
  )
}

/** The file of the same folder that declares a type which a file names. */
function declaredIn({ path, text }: Source, type: string): string {
  const imported = new RegExp(`\\b${type}\\b[^}]*\\} from '([^']+)'`).exec(text)?.[1]
  return imported === undefined ? path : (importsOf(path, `import x from '${imported}'`)[0]?.to ?? path)
}

/** Groups of files that import each other in a circle, types included; what is loaded later by `import()` is not. */
export function cycles(sources: readonly Source[] = SOURCES): string[][] {
  const edges = new Map(
    sources.map(({ path, imports }) => [path, imports.filter(({ kind }) => kind !== 'lazy').map(({ to }) => to)]),
  )
  return components(edges).filter((group) => group.length > 1)
}

/** Strongly connected components of a graph (Tarjan). */
function components(edges: ReadonlyMap<string, readonly string[]>): string[][] {
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const found: string[][] = []
  const visit = (node: string): void => {
    index.set(node, index.size)
    low.set(node, index.get(node)!)
    stack.push(node)
    for (const next of edges.get(node) ?? []) {
      if (!edges.has(next)) continue
      if (!index.has(next)) visit(next)
      if (stack.includes(next)) low.set(node, Math.min(low.get(node)!, low.get(next)!))
    }
    if (low.get(node) === index.get(node)) found.push(stack.splice(stack.indexOf(node)).sort())
  }
  for (const node of edges.keys()) if (!index.has(node)) visit(node)
  return found
}

/**
 * The cases of the conformance suites: tables of scenarios, rules and misbehaviours. The product ships them, but they are
 * tests of other programs: they are neither product that needs lines of tests, nor tests of the product. What plays
 * and judges them (the rest of `src/conformance`) is product.
 */
const SUITES = /^src\/conformance\/(?:suites\/|bad-(?:answers|requests)\.ts|kit\/model-(?:rules|scenarios)\.ts)/

/** The lines of the product without its suites, of the suites, and of the tests; `ratio` is tests by product. */
export function lineCounts(
  sources: readonly Source[] = SOURCES,
): Record<'product' | 'suites' | 'tests' | 'ratio', number> {
  const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0)
  const sizes = fileSizes(sources)
  const suites = sum(sizes.filter(({ place }) => SUITES.test(place)).map(({ count }) => count))
  const product = sum(sizes.map(({ count }) => count)) - suites
  const tests = sum(
    [...filesOf(['test']), ...filesOf(['test'], '.mjs')].map((path) => read(path).split('\n').length - 1),
  )
  return { product, suites, tests, ratio: tests / product }
}

/** Files of the engine that no test imports by themselves. */
export function untestedEngineFiles(): string[] {
  const tested = new Set(filesOf(['test']).flatMap((path) => importsOf(path, read(path)).map(({ to }) => to)))
  return SOURCES.map(({ path }) => path).filter(
    (path) => path.startsWith('src/engine/') && !path.endsWith('/index.ts') && !tested.has(path),
  )
}

/** The value that a share of the counts does not exceed. */
export function percentile(counts: readonly Count[], share: number): number {
  const sorted = counts.map(({ count }) => count).sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

/** Every measure, as a person reads it. */
function report(): string {
  const files = fileSizes()
  const functions = functionSizes()
  const most = (counts: readonly Count[]): string =>
    [...counts]
      .sort((a, b) => b.count - a.count)
      .slice(0, 8)
      .map(({ place, count }) => `\n    ${count} ${place}`)
      .join('')
  const { product, suites, tests, ratio } = lineCounts()
  return [
    `lines: product ${product}, suites ${suites}, tests ${tests} (${ratio.toFixed(3)} per product line)`,
    `file lines: median ${percentile(files, 0.5)}, p90 ${percentile(files, 0.9)}${most(files)}`,
    `function lines: median ${percentile(functions, 0.5)}, p90 ${percentile(functions, 0.9)}${most(functions)}`,
    `class fields:${most(classFields())}`,
    `members of constructor arguments:${most(constructorMembers())}`,
    `import cycles: ${cycles().length}${cycles()
      .map((group) => `\n    ${group.join(' ')}`)
      .join('')}`,
    `engine files without a test of their own: ${untestedEngineFiles().length}`,
  ].join('\n')
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.stdout.write(`${report()}\n`)
