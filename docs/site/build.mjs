// `npm run docs`: makes the site of the documentation in docs/site/out, which any web server can serve without a network.
// `npm run docs -- --open PORT` serves it here.
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build, serve } from 'vitepress'
import { ROOT, sections, siteText } from './pages.ts'

const work = join(import.meta.dirname, 'staged')
const out = join(import.meta.dirname, 'out')
const all = sections()
const pages = all.flatMap((section) => section.pages)

rmSync(work, { recursive: true, force: true })
for (const page of pages) {
  const file = join(work, page.target)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, siteText(page, pages))
}
const images = join(ROOT, 'docs/images')
if (existsSync(images)) cpSync(images, join(work, 'images'), { recursive: true })
cpSync(join(ROOT, 'console/icon.svg'), join(work, 'public/icon.svg'))

const link = ({ title, target }) => ({ text: title, link: `/${target.replace(/(index)?\.md$/, '')}` })
const config = {
  title: 'Turnpike',
  description: 'A protocol translation gateway for AI agents',
  outDir: out,
  cleanUrls: false,
  markdown: { html: false, theme: { light: 'github-light', dark: 'github-dark' } },
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: '/icon.svg' }]],
  themeConfig: {
    search: { provider: 'local' },
    outline: 'deep',
    sidebar: all.map(({ title, pages: own }) => ({ text: title, items: own.map(link) })),
  },
}
// A page of the documentation is Markdown, and nothing in it is a template of the site.
const plain = `(md) => {
  for (const rule of ['text', 'code_inline']) {
    const write = md.renderer.rules[rule]
    md.renderer.rules[rule] = (...given) => write(...given).replaceAll('{{', '&#123;&#123;')
  }
}`
mkdirSync(join(work, '.vitepress'), { recursive: true })
writeFileSync(
  join(work, '.vitepress/config.mjs'),
  `const config = ${JSON.stringify(config, null, 2)}\nconfig.markdown.config = ${plain}\nexport default config\n`,
)
await build(work)
process.stdout.write(`The site is in ${out}\n`)
const [flag, port = '8485'] = process.argv.slice(2)
if (flag === '--open') await serve({ root: work, port: Number(port) })
