// Bundles the command line into dist/: an entry and lazily loaded chunks. OpenTelemetry stays outside, because it is
// large, loaded only when telemetry is configured, and patches modules by their paths.
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
  external: ['@opentelemetry/*'],
  banner: { js: "import { createRequire as $require } from 'node:module'; const require = $require(import.meta.url);" },
  logLevel: 'warning',
})
