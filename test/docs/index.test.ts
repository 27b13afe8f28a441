import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sections, siteText } from '../../docs/site/pages.ts'
import { ROOT } from '../kit/gateway.ts'

const pages = sections().flatMap((section) => section.pages)

/** The files of a folder that are pages, from the root of the project. */
function markdown(folder: string): string[] {
  return readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name))
}

describe('docs/README.md', () => {
  test('lists every page once', () => {
    const codecs = readdirSync(join(ROOT, 'codecs'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `codecs/${name}/README.md`)
    const all = [
      ...markdown('.').filter((path) => path !== 'bench-results.md'),
      ...markdown('docs').filter((path) => path !== 'docs/README.md'),
      ...codecs,
      'deploy/README.md',
    ]
    expect(pages.map(({ source }) => source).sort()).toEqual(all.sort())
  })

  test('gives every page a place of its own in the site', () => {
    const targets = pages.map(({ target }) => target)
    expect(new Set(targets).size).toBe(targets.length)
    expect(pages.slice(0, 3)).toEqual([
      { title: 'What it is', source: 'README.md', target: 'index.md' },
      { title: 'Install', source: 'docs/install.md', target: 'install.md' },
      { title: 'In a container', source: 'docs/container.md', target: 'container.md' },
    ])
    expect(pages).toContainEqual({ title: 'zot', source: 'codecs/zot/README.md', target: 'codecs/zot.md' })
  })
})

test('every picture of a page is there', () => {
  const shown = pages.flatMap(({ source }) => {
    const text = readFileSync(join(ROOT, source), 'utf8')
    const found = [...text.matchAll(/!\[[^\]]*\]\(([^)\s]+)\)|<(?:img|source)\b[^>]* src(?:set)?="([^"]+)"/g)]
    return found.map(([, image, inHtml]) => join(dirname(source), image ?? inHtml!))
  })
  expect(shown).toContain('docs/images/console-turn-dark.png')
  expect(shown.filter((file) => !existsSync(join(ROOT, file)))).toEqual([])
})

describe('a page in the site', () => {
  const from = (source: string) => ({ ...pages.find((page) => page.source === source)! })

  test.each([
    ['docs/install.md', '[a](configuration.md)', '[a](./configuration.md)'],
    ['docs/install.md', '[a](configuration.md#limits)', '[a](./configuration.md#limits)'],
    ['docs/install.md', '[a](../README.md#protocols)', '[a](./index.md#protocols)'],
    ['docs/install.md', '[a](README.md)', '[a](./index.md)'],
    ['README.md', '[`codecs/zot`](codecs/zot/)', '[`codecs/zot`](./codecs/zot.md)'],
    ['README.md', '[a](docs/editors.md) and [b](SECURITY.md)', '[a](./editors.md) and [b](./security.md)'],
    ['codecs/zot/README.md', '[a](../qwen/README.md)', '[a](./qwen.md)'],
    ['codecs/zot/README.md', '[a](../../docs/matrix.md)', '[a](../matrix.md)'],
    ['codecs/zot/README.md', '[the table](back/events.ts)', 'the table'],
    ['README.md', '[a](https://example.org/x.md)', '[a](https://example.org/x.md)'],
    ['README.md', '![a](docs/images/flow.svg)', '![a](./images/flow.svg)'],
    ['docs/console.md', '![a](images/turn.png)', '![a](./images/turn.png)'],
    ['codecs/zot/README.md', '![a](../../docs/images/flow.svg)', '![a](../images/flow.svg)'],
    ['README.md', '[a](#try-it)', '[a](#try-it)'],
    ['README.md', 'a\n<!-- generated\nhere -->\nb <!-- c', 'a\nb <!-- c'],
    [
      'README.md',
      '<picture>\n  <source srcset="docs/images/b.png">\n  <img alt="A." src="docs/images/a.png" width="9">\n</picture>',
      '![A.](./images/a.png)',
    ],
    [
      'README.md',
      'a\n```sh\n[b](SECURITY.md)\n```\n[c](SECURITY.md)',
      'a\n```sh\n[b](SECURITY.md)\n```\n[c](./security.md)',
    ],
  ])('of %s: %j', (source, text, expected) => {
    expect(siteText(from(source), pages, text)).toBe(expected)
  })
})
