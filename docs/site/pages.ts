/** The pages of the site: those that docs/README.md lists, with links that work there. */
import { readFileSync } from 'node:fs'
import { join, posix, resolve } from 'node:path'

/** The folder of the project. */
export const ROOT: string = resolve(import.meta.dirname, '../..')
const INDEX = 'docs/README.md'
const COMMENT = /^<!--[\s\S]*?-->\n?/gm
const PICTURE = /<picture>[\s\S]*?<img alt="([^"]*)" src="([^"]*)"[^>]*>\s*<\/picture>/g
const LINK = /(!?)\[([^\]]*)\]\(([^)\s]+)\)/g
/** The folder of the pictures, which the site has as `images`. */
const IMAGES = 'docs/images/'

/** One page. */
export interface Page {
  title: string
  /** Its path from the root of the project. */
  source: string
  /** Its path from the root of the site. */
  target: string
}

/** Pages under one heading. */
export interface Section {
  title: string
  pages: Page[]
}

/** The sections of docs/README.md, in its order. */
export function sections(index: string = readFileSync(join(ROOT, INDEX), 'utf8')): Section[] {
  return index
    .split(/^## /m)
    .slice(1)
    .map((text) => ({
      title: text.slice(0, text.indexOf('\n')).trim(),
      pages: [...text.matchAll(/^- \[([^\]]+)\]\(([^)]+)\)/gm)].map(([, title = '', link = '']) => {
        const source = posix.join(posix.dirname(INDEX), link)
        return { title, source, target: targetOf(source) }
      }),
    }))
}

/** Where a page is in the site. */
function targetOf(source: string): string {
  if (source === 'README.md') return 'index.md'
  const folder = /^(.+)\/README\.md$/.exec(source)
  return folder ? `${folder[1]}.md` : source.replace(/^docs\//, '').toLowerCase()
}

/**
 * The text of a page with links to other pages as the site has them. A link to what is no page, such as a source file,
 * becomes its text; one to another host stays. A picture of two colour schemes is its `<img>` alone; comments are left out.
 */
export function siteText(
  { source, target }: Page,
  pages: readonly Page[],
  text: string = readFileSync(join(ROOT, source), 'utf8'),
): string {
  const targets = new Map(pages.map((page) => [page.source, page.target]))
  targets.set(INDEX, 'index.md')
  return outsideOfCode(text, (prose) =>
    prose
      .replace(COMMENT, '')
      .replace(PICTURE, '![$1]($2)')
      .replace(LINK, (whole: string, mark: string, label: string, link: string) => {
        if (/^[a-z]+:/.test(link) || link.startsWith('#')) return whole
        const [path = '', hash] = link.split('#')
        const to = posix.join(posix.dirname(source), path).replace(/\/$/, '')
        const image = to.startsWith(IMAGES) ? to.replace('docs/', '') : undefined
        const found = image ?? targets.get(to) ?? targets.get(`${to}/README.md`)
        if (found === undefined) return label
        const from = posix.relative(posix.dirname(target), found)
        return `${mark}[${label}](${from.startsWith('.') ? from : `./${from}`}${hash === undefined ? '' : `#${hash}`})`
      }),
  )
}

/** Applies a function to what stands outside of fenced blocks. */
function outsideOfCode(text: string, change: (prose: string) => string): string {
  return text
    .split(/^( *```[\s\S]*?^ *```$)/m)
    .map((part, index) => (index % 2 === 1 ? part : change(part)))
    .join('')
}
