import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { sections } from '../../docs/site/pages.ts'
import { ROOT } from '../kit/gateway.ts'

const SITE = join(ROOT, 'docs/site')
const OUT = join(SITE, 'out')
const isInstalled = existsSync(join(SITE, 'node_modules/vitepress'))

describe.skipIf(!isInstalled)('the site of the documentation (needs npm ci in docs/site)', () => {
  let files: string[]

  beforeAll(() => {
    // It fails on a link that leads nowhere.
    const { status, stderr } = spawnSync(process.execPath, [join(SITE, 'build.mjs')], { encoding: 'utf8' })
    expect([status, stderr]).toEqual([0, expect.not.stringContaining('dead link')])
    files = readdirSync(OUT, { recursive: true }).map(String)
  }, 120_000)

  test('has every page', () => {
    const expected = sections().flatMap(({ pages }) => pages.map(({ target }) => target.replace(/\.md$/, '.html')))
    expect(files.filter((name) => name.endsWith('.html')).sort()).toEqual([...expected, '404.html'].sort())
  })

  test('shows nothing as it stands in a template or in a comment', () => {
    const shown = ['{{', '<!-- ', '&lt;!--']
    const found = files
      .filter((name) => name.endsWith('.html'))
      .flatMap((name) => {
        const html = readFileSync(join(OUT, name), 'utf8').replaceAll(
          /<(code|pre)\b[\s\S]*?<\/\1>|<script\b[\s\S]*?<\/script>/g,
          '',
        )
        return shown.filter((text) => html.includes(text)).map((text) => `${name}: ${text}`)
      })
    expect(found).toEqual([])
  })

  test('has its name, and a title for each page', () => {
    const of = (name: string): string => readFileSync(join(OUT, name), 'utf8')
    expect(of('index.html')).toMatch(/<span[^>]*>Turnpike<\/span>/)
    expect(of('configuration.html')).toContain('<title>Configuration | Turnpike</title>')
  })

  test('loads nothing from other hosts', () => {
    const loaded = files
      .filter((name) => name.endsWith('.html'))
      .flatMap((name) => [...readFileSync(join(OUT, name), 'utf8').matchAll(/<(?:script|link|img)\b[^>]*>/g)])
      .filter(([tag]) => /(?:src|href)="(?:https?:)?\/\//.test(tag))
    expect(loaded).toEqual([])
  })

  test('has a search that finds the text of pages', () => {
    const index = files.find((name) => /localSearchIndex/.test(name))!
    const text = readFileSync(join(OUT, index), 'utf8')
    expect(['opentelemetry', 'traceparent', 'prompt'].filter((word) => !text.includes(word))).toEqual([])
  })
})
