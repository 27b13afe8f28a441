/** The source files and what their import statements say. A scanner of its own: the layout of statements is the formatter's. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix, relative } from 'node:path'

/** The project's root. */
export const ROOT = join(import.meta.dirname, '../..')

/** The folders that hold the product's code. */
export const SOURCE_FOLDERS = ['src', 'codecs', 'routes', 'observability', 'console'] as const

/** `type` is gone at run time, `lazy` is loaded when it is reached, `static` with the file. */
export type ImportKind = 'static' | 'type' | 'lazy'

/** One import. `to` is a file from the root for relative ones, else the package or `node:` module. */
export interface Import {
  kind: ImportKind
  to: string
  line: number
}

/** A file from the root with its text and its imports. */
export interface Source {
  path: string
  text: string
  imports: readonly Import[]
}

const STATEMENT = /^(?:import|export)(?<type>\s+type)?\b(?:[\w$*{},\s]*?\bfrom)?\s*'(?<to>[^']+)'/gm
const CALL =
  /(?<before>typeof\s+)?\b(?:import|getBuiltinModule|require)\(\s*(?:'(?<to>[^']+)'\s*)?(?<after>\)(?:\.[A-Z])?)?/g

/** What a file imports. A specifier that is no plain text is named `(computed)`: no rule allows it. */
export function importsOf(path: string, source: string): Import[] {
  // Comments may show an import; they keep their lines, so that the numbers stay right.
  const code = source.replace(/\/\*[\s\S]*?\*\//g, (text) => text.replace(/[^\n]/g, ' ')).replace(/^\s*\/\/.*$/gm, '')
  const found: Import[] = []
  const add = (kind: ImportKind, specifier: string, index: number): void => {
    found.push({ kind, to: target(path, specifier), line: code.slice(0, index).split('\n').length })
  }
  for (const { groups, index } of code.matchAll(STATEMENT))
    add(groups!['type'] ? 'type' : 'static', groups!['to']!, index)
  for (const { groups, index } of code.matchAll(CALL)) {
    const { before, to, after } = groups!
    const isType = before !== undefined || (after?.length ?? 0) > 1
    add(isType ? 'type' : 'lazy', to !== undefined && after !== undefined ? to : '(computed)', index)
  }
  return found
}

/** What a specifier in a file of the root names: a file from the root, a package, or a `node:` module. */
export function target(from: string, specifier: string): string {
  if (specifier.startsWith('.')) return posix.join(posix.dirname(from), specifier)
  if (specifier.startsWith('node:')) return specifier
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

/** The files below folders of the root with an ending, as paths from it. Samples are data, installed packages are others'. */
export function filesOf(folders: readonly string[], ending = '.ts'): string[] {
  return folders
    .flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .filter((path) => !/\/(samples|node_modules)\//.test(path))
    .sort()
}

/** A text file of the project. */
export function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

/** Every source file. */
export const SOURCES: readonly Source[] = [...filesOf(SOURCE_FOLDERS), ...filesOf(['console'], '.tsx')].map((path) => {
  const text = read(path)
  return { path, text, imports: importsOf(path, text) }
})
