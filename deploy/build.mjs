// Bundles the command line into dist/ (or the folder named as the first argument): `turnpike.cjs`, one small file that
// finds the command and holds all of `turnpike as` on a running gateway, `starter.cjs`, which starts agents, and a folder of what it imports lazily. What a
// stand-in starts is CommonJS in one file each, which Node.js loads the quickest; the rest shares its ES modules.
// OpenTelemetry and undici stay outside: both are large, loaded only when they are needed, and look at Node's own
// modules in ways that bundling changes.
import { rmSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { build } from 'esbuild'

const outdir = process.argv[2] ?? 'dist'
const common = {
  bundle: true,
  // Names stay, for stack traces that can be read.
  minifySyntax: true,
  minifyWhitespace: true,
  platform: 'node',
  target: 'node22',
  external: ['@opentelemetry/*', 'undici'],
  // Their ES modules: what is not used of them stays out. For Node both packages name CommonJS, which is all or nothing.
  alias: {
    rxjs: resolve('node_modules/rxjs/dist/esm/index.js'),
    yaml: resolve('node_modules/yaml/browser/index.js'),
  },
  logLevel: 'warning',
}
const commonJs = {
  ...common,
  outExtension: { '.js': '.cjs' },
  format: 'cjs',
  define: { 'import.meta.dirname': '__dirname' },
}

/** What the entry holds itself although it imports it lazily. */
const INSIDE = new Set([resolve('src/cli/as.ts')])
/** What is one file of its own. */
const WHOLE = new Set([resolve('src/cli/alone.ts')])

/** Source file behind each lazy import of the entry, by the name of its module. */
const lazy = new Map()
const entries = (whole) => Object.fromEntries([...lazy].filter(([, file]) => WHOLE.has(file) === whole))

const lazyOutside = {
  name: 'lazy-outside',
  setup({ onResolve }) {
    onResolve({ filter: /^\./ }, ({ path, kind, importer }) => {
      const file = resolve(dirname(importer), path)
      if (kind !== 'dynamic-import' || INSIDE.has(file)) return undefined
      const name = file.slice(process.cwd().length + 1, -'.ts'.length).replaceAll('/', '-')
      lazy.set(name, file)
      return { path: `./modules/${name}.${WHOLE.has(file) ? 'cjs' : 'mjs'}`, external: true }
    })
  },
}

rmSync(outdir, { recursive: true, force: true })
await build({ ...commonJs, entryPoints: { turnpike: 'src/cli/main.ts' }, outdir, plugins: [lazyOutside] })
await build({ ...commonJs, entryPoints: { starter: 'src/backends/starter-main.ts' }, outdir })
await build({ ...commonJs, entryPoints: entries(true), outdir: `${outdir}/modules` })
await build({
  ...common,
  entryPoints: entries(false),
  outdir: `${outdir}/modules`,
  outExtension: { '.js': '.mjs' },
  splitting: true,
  format: 'esm',
  banner: { js: "import { createRequire as $require } from 'node:module'; const require = $require(import.meta.url);" },
})
