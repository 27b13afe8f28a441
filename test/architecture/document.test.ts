import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { PARTS, type Part } from './rules.ts'
import { filesOf, ROOT, read, SOURCES } from './sources.ts'

const PAGES = ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'docs/dependencies.md'] as const
const ARCHITECTURE = read('ARCHITECTURE.md')
const CODE = [...SOURCES, ...filesOf(['test/kit']).map((path) => ({ text: read(path) }))]
  .map(({ text }) => text)
  .join('\n')

/** What stands in backquotes outside of code blocks, without repetition. */
function quoted(page: string): string[] {
  const prose = read(page).replace(/^```[\s\S]*?^```/gm, '')
  return [...new Set([...prose.matchAll(/`([^`\n]+)`/g)].map(([, text]) => text!))]
}

/** The cell of the import table. */
function cell({ may, types, lazy }: Part): string {
  const list = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ')
  return [
    ...(may.length > 0 ? [list(may)] : []),
    ...(types ? [`types of ${list(types)}`] : []),
    ...(lazy ? [`lazily ${list(lazy)}`] : []),
  ].join('; ')
}

describe.each(PAGES)('%s', (page) => {
  test('names only paths that are there', () => {
    const paths = quoted(page).filter((text) =>
      /^(?:(?:src|codecs|routes|observability|console|test|deploy|examples|docs)\/)[^\s<>*]*$/.test(text),
    )
    const links = [...read(page).matchAll(/\]\(([^)#]+)\)/g)].map(([, to]) => join(page, '..', to!))
    expect([...paths, ...links].filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
    expect(paths.length).toBeGreaterThan(0)
  })

  test('names only classes, types and members of the code', () => {
    const names = quoted(page).filter((text) => /^[A-Z][a-z]+[A-Z]?\w*(?:\.#?\w+)?$/.test(text))
    const unknown = names.filter((name) => {
      const [type, member] = name.split('.')
      const declared = SOURCES.filter(({ text }) => new RegExp(`\\b(?:class|interface|type) ${type}\\b`).test(text))
      if (member === undefined) return declared.length === 0
      return !declared.some(({ text }) => new RegExp(`^ +(?:get |async )?${member}[(:]`, 'm').test(text))
    })
    expect(unknown.filter((name) => !FOREIGN.has(name))).toEqual([])
  })

  test('names only functions of the code', () => {
    const names = quoted(page).filter((text) => /^[a-z]+[A-Z]\w*$/.test(text))
    expect(names.filter((name) => !FOREIGN.has(name) && !new RegExp(`\\b${name}\\b`).test(CODE))).toEqual([])
  })

  test('names only messages and error codes of the model', () => {
    const names = quoted(page).filter((text) => /^(?:turn|ask|session|message|tool|step)-[a-z]+$/.test(text))
    expect(names.filter((name) => !CODE.includes(`'${name}'`))).toEqual([])
  })
})

/** Names of other projects and tools that the pages use. */
const FOREIGN = new Set(['Observable', 'allowScripts', 'streamSSE'])

describe('ARCHITECTURE.md', () => {
  test('has every top folder of the product', () => {
    const folders = readdirSync(join(ROOT, 'src'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `### \`src/${name}\``)
    const headings = ARCHITECTURE.split('\n').filter((line) => line.startsWith('### '))
    expect(headings).toEqual(
      expect.arrayContaining([...folders, '### `codecs`', '### `routes`', '### `observability`', '### `console`']),
    )
  })

  test('has the import table as it is enforced', () => {
    const rows = [...ARCHITECTURE.matchAll(/^\| `([^`]+)` \| [^|]+ \| (.*) \|$/gm)].map(([, part, imports]) => ({
      part,
      imports,
    }))
    const expected = PARTS.map((part) => ({ part: part.path, imports: cell(part) || 'nothing' }))
    expect(rows).toEqual(expected)
  })
})

describe('the text speaks of the project alone', () => {
  test.each([...PAGES, 'README.md', 'CHANGELOG.md'])('%s', (page) => {
    expect(
      read(page)
        .split('\n')
        .filter((line) => /\/work\/|\.\.\/shared|\/root\//.test(line)),
    ).toEqual([])
  })

  test('source files', () => {
    const found = [...SOURCES, ...filesOf(['deploy', 'examples'], '').map((path) => ({ path, text: read(path) }))]
    expect(found.filter(({ text }) => /\/work\/|\.\.\/shared|\/root\//.test(text)).map(({ path }) => path)).toEqual([])
  })

  test('tests, which need no file from outside of the repository', () => {
    const found = [...filesOf(['test']), ...filesOf(['test'], '.mjs')].map((path) => ({ path, text: read(path) }))
    expect(
      found.filter(({ text }) => /\.\.\/shared\/(?:transcripts|conformance|tools)/.test(text)).map(({ path }) => path),
    ).toEqual([])
  })
})
