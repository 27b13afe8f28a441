import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { ROOT } from '../kit/gateway.ts'

const FOLDER = join(ROOT, 'dist/console')
/** The most that a browser loads, compressed, in bytes. */
const MOST = 150_000

describe.skipIf(!existsSync(FOLDER))('the built console', () => {
  const files = existsSync(FOLDER) ? readdirSync(FOLDER) : []
  const text = (name: string): string => readFileSync(join(FOLDER, name), 'utf8')

  test('is a page with one script, one style and one icon, named by their content', () => {
    expect(files.map((name) => name.replace(/-[A-Z0-9]{8}\./, '-HASH.')).sort()).toEqual([
      'console-HASH.css',
      'console-HASH.js',
      'icon-HASH.svg',
      'index.html',
    ])
    for (const name of files.filter((one) => one !== 'index.html')) expect(text('index.html')).toContain(`"${name}"`)
  })

  test('is small', () => {
    const size = files.reduce((sum, name) => sum + gzipSync(readFileSync(join(FOLDER, name))).length, 0)
    expect(size).toBeLessThanOrEqual(MOST)
  })

  test('names no other server, and has nothing inline', () => {
    const urls = files.flatMap((name) => text(name).match(/\bhttps?:\/\/[\w.-]+/g) ?? [])
    // The namespaces of SVG, XHTML and MathML are names, not addresses.
    expect(urls.filter((url) => url !== 'http://www.w3.org')).toEqual([])
    expect(text('index.html')).not.toMatch(/<style|<script>|\son\w+=|style=/)
  })
})
