// Bundles the command line into dist/: an entry and lazily loaded chunks. OpenTelemetry and undici stay outside: both
// are large, loaded only when they are needed, and look at Node's own modules in ways that bundling changes.
import { rmSync } from 'node:fs'
import { build } from 'esbuild'

rmSync('dist', { recursive: true, force: true })
await build({
  entryPoints: { turnpike: 'src/cli/main.ts' },
  outdir: 'dist',
  outExtension: { '.js': '.mjs' },
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22',
  external: ['@opentelemetry/*', 'undici'],
  banner: { js: "import { createRequire as $require } from 'node:module'; const require = $require(import.meta.url);" },
  logLevel: 'warning',
})
