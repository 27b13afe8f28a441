// Bundles the command line into dist/ (or the folder named as the first argument): `turnpike.cjs`, which loads all else
// as cached.cjs says, `starter.cjs`, which starts agents, and a folder of what `turnpike.cjs` loads. What a stand-in needs
// is CommonJS in one file each, which Node.js loads the quickest: `src-cli-main.cjs`, a small file that finds the command
// and holds all of `turnpike as` on a running gateway; what runs a turn without one; the codecs. The rest shares its ES
// modules. `console/` has the page that `serve` shows to browsers, its files named by their content.
// OpenTelemetry, pg and undici stay outside: they are large, loaded only when they are needed, and look at Node's own
// modules in ways that bundling changes.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { build } from 'esbuild'

const outdir = process.argv[2] ?? 'dist'

/** The same for the same sources, and for no others. */
const BUILD = createHash('sha256')
for (const folder of ['src', 'codecs', 'routes', 'observability']) {
  const files = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith('.ts'))
  for (const file of files.sort()) BUILD.update(readFileSync(join(folder, file)))
}
for (const file of ['package-lock.json', 'deploy/build.mjs', 'src/startup/cached.cjs', 'src/startup/supported.cjs'])
  BUILD.update(readFileSync(file))
const buildId = JSON.stringify(BUILD.digest('hex').slice(0, 16))

/** The smallest version of Node.js that package.json allows, as [major, minor]. */
const smallestNode = JSON.stringify(
  /^>=(\d+)\.(\d+)$/
    .exec(JSON.parse(readFileSync('package.json', 'utf8')).engines.node)
    .slice(1)
    .map(Number),
)

const REGEXP = { 'regexp-unicode-property-escapes': true }
const common = {
  bundle: true,
  // Names stay, for stack traces that can be read.
  minifySyntax: true,
  minifyWhitespace: true,
  platform: 'node',
  target: 'node22',
  // Else such expressions become calls, which stay in and are made at every start also where nothing uses them.
  supported: REGEXP,
  external: ['@opentelemetry/*', 'pg', 'undici'],
  // Their ES modules: what is not used of them stays out. For Node both packages name CommonJS, which is all or nothing.
  alias: {
    rxjs: resolve('node_modules/rxjs/dist/esm/index.js'),
    yaml: resolve('node_modules/yaml/browser/index.js'),
  },
  define: { TURNPIKE_BUILD: buildId },
  logLevel: 'warning',
}
const commonJs = {
  ...common,
  outExtension: { '.js': '.cjs' },
  format: 'cjs',
  define: { ...common.define, 'import.meta.dirname': '__dirname', TURNPIKE_LOAD: 'require' },
  // By `require`: the ES module loader is not loaded for what needs none.
  supported: { ...REGEXP, 'dynamic-import': false },
}

/** Modules that are bundled into the file that imports them lazily. */
const INSIDE = new Set(['src/cli/as.ts'])
/** The entry points that become one CommonJS file each: everything that a stand-in loads. */
const whole = new Set(['src/cli/main.ts'])
const isWhole = (file) => /^(src\/cli\/(standalone|read-config)|codecs\/[^/]+\/index)\.ts$/.test(file)
/** Further modules that these load. */
const others = new Set()
const nameOf = (file) => file.slice(0, -'.ts'.length).replaceAll('/', '-')
const entries = (files) => Object.fromEntries([...files].map((file) => [nameOf(file), file]))

const lazyOutside = {
  name: 'lazy-outside',
  setup({ onResolve }) {
    onResolve({ filter: /^\./ }, ({ path, kind, importer }) => {
      const file = relative(process.cwd(), resolve(dirname(importer), path))
      if (kind !== 'dynamic-import' || INSIDE.has(file)) return undefined
      if (isWhole(file)) whole.add(file)
      else others.add(file)
      return { path: `./${nameOf(file)}.${isWhole(file) ? 'cjs' : 'mjs'}`, external: true }
    })
  },
}

rmSync(outdir, { recursive: true, force: true })
await build({
  ...commonJs,
  stdin: {
    contents: `require('./src/startup/supported.cjs').requireSupported(${smallestNode})
require('./src/startup/cached.cjs').load(__dirname + '/modules/src-cli-main.cjs', TURNPIKE_BUILD)`,
    resolveDir: '.',
  },
  outfile: `${outdir}/turnpike.cjs`,
})
// Twice: what one of them imports lazily is another one.
for (let known = 0; known < whole.size; ) {
  known = whole.size
  await build({ ...commonJs, entryPoints: entries(whole), outdir: `${outdir}/modules`, plugins: [lazyOutside] })
}
await build({ ...commonJs, entryPoints: { starter: 'src/backends/starter-main.ts' }, outdir })
await build({
  ...common,
  entryPoints: entries(others),
  outdir: `${outdir}/modules`,
  outExtension: { '.js': '.mjs' },
  splitting: true,
  format: 'esm',
  banner: { js: "import { createRequire as $require } from 'node:module'; const require = $require(import.meta.url);" },
})

const { metafile } = await build({
  entryPoints: { console: 'console/main.tsx', icon: 'console/icon.svg' },
  outdir: `${outdir}/console`,
  entryNames: '[name]-[hash]',
  loader: { '.svg': 'copy' },
  bundle: true,
  minify: true,
  format: 'esm',
  target: ['chrome123', 'firefox121', 'safari17.5'],
  metafile: true,
  logLevel: 'warning',
})
const page = Object.keys(metafile.outputs).reduce(
  (text, file) => text.replace(`$${basename(file).replace(/-.*\./, '.')}`, basename(file)),
  readFileSync('console/index.html', 'utf8'),
)
writeFileSync(`${outdir}/console/index.html`, page)
