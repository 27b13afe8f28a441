/** Who may import what, as data. `imports.test.ts` holds the code to it, `document.test.ts` the table of ARCHITECTURE.md. */
import { globSync } from 'node:fs'
import { join } from 'node:path'

/** One part of the tree and all that it may import beside itself. */
export interface Part {
  /** A folder or a file, from the root. `codecs/*` stands for each folder there on its own, other `/*` likewise. */
  readonly path: string
  /** Parts, packages and `node:` modules. A scope's `/*` stands for all its packages. */
  readonly may: readonly string[]
  /** The same, by `import type` only: they are not there at run time. */
  readonly types?: readonly string[]
  /** The same, by `import()` where it is first needed, or as types: nobody pays for them at the start. */
  readonly lazy?: readonly string[]
}

/** Every part. The first whose path covers a file is the file's. */
export const PARTS: readonly Part[] = [
  { path: 'src/model', may: [] },
  { path: 'src/contract', may: ['src/model'] },
  { path: 'src/codec-kit', may: ['src/model', 'src/contract', 'valibot'] },
  { path: 'src/framing', may: ['src/model', 'src/contract'] },
  { path: 'src/describe', may: ['src/contract', '@valibot/to-json-schema'], types: ['valibot'] },
  { path: 'codecs/index.ts', may: [], types: ['src/contract'], lazy: ['codecs/*'] },
  { path: 'codecs/operations.ts', may: [], types: ['src/contract'], lazy: ['codecs/*'] },
  // Its stand-in also takes clients of the wire that the CLI ships with.
  {
    path: 'codecs/qwen',
    may: ['src/model', 'src/contract', 'src/codec-kit', 'src/describe', 'valibot', 'codecs/qwen-code'],
  },
  { path: 'codecs/*', may: ['src/model', 'src/contract', 'src/codec-kit', 'src/describe', 'valibot'] },
  {
    path: 'src/backends',
    may: ['src/model', 'src/contract', 'node:child_process', 'node:fs', 'node:net', 'node:path', 'node:string_decoder'],
    types: ['node:stream'],
    lazy: ['undici'],
  },
  { path: 'src/startup', may: ['node:fs', 'node:string_decoder'], types: ['node:net'], lazy: ['node:crypto'] },
  {
    path: 'src/store',
    may: ['src/model', 'src/contract', 'src/startup', 'node:fs', 'node:path', 'pg'],
    lazy: ['node:sqlite'],
  },
  {
    path: 'src/config',
    may: ['src/model', 'src/startup', 'zod', 'yaml', 'node:fs', 'node:path'],
    types: ['src/contract'],
  },
  // The wings of the engine, the lowest first: none imports one above it.
  {
    path: 'src/engine/common',
    may: ['src/model', 'src/contract', 'src/startup'],
  },
  {
    path: 'src/engine/events',
    may: ['src/model', 'src/contract', 'rxjs'],
  },
  {
    path: 'src/engine/carry',
    may: ['src/model', 'src/contract', 'src/engine/common', 'src/engine/events'],
  },
  {
    path: 'src/engine/agent',
    may: [
      'src/model',
      'src/contract',
      'src/framing',
      'src/engine/common',
      'src/engine/events',
      'src/engine/carry',
      'rxjs',
    ],
  },
  {
    path: 'src/engine/client',
    may: ['src/model', 'src/contract', 'src/framing', 'src/engine/common', 'src/engine/carry', 'src/engine/events'],
  },
  {
    path: 'src/engine/turn',
    may: [
      'src/model',
      'src/contract',
      'src/engine/common',
      'src/engine/events',
      'src/engine/carry',
      'src/engine/agent',
      'src/engine/client',
    ],
  },
  {
    path: 'src/engine/session',
    may: ['src/model', 'src/contract', 'src/engine/common', 'src/engine/agent', 'src/engine/client', 'src/engine/turn'],
  },
  {
    path: 'src/engine/record',
    may: [
      'src/model',
      'src/contract',
      'src/engine/common',
      'src/engine/events',
      'src/engine/agent',
      'src/engine/client',
      'src/engine/turn',
      'src/engine/session',
    ],
  },
  {
    path: 'src/engine/replay',
    may: [
      'src/model',
      'src/contract',
      'src/engine/events',
      'src/engine/carry',
      'src/engine/agent',
      'src/engine/client',
      'rxjs',
    ],
  },
  {
    path: 'src/engine/dispatch',
    may: [
      'src/model',
      'src/contract',
      'src/engine/common',
      'src/engine/events',
      'src/engine/carry',
      'src/engine/agent',
      'src/engine/client',
      'src/engine/turn',
      'src/engine/session',
      'src/engine/record',
    ],
  },
  {
    path: 'src/engine',
    may: [
      'src/contract',
      'src/engine/common',
      'src/engine/carry',
      'src/engine/agent',
      'src/engine/client',
      'src/engine/turn',
      'src/engine/session',
      'src/engine/record',
      'src/engine/dispatch',
    ],
  },
  {
    path: 'src/cluster',
    may: ['src/contract', 'src/startup', 'node:crypto', 'node:http', 'node:https'],
    types: ['src/config', 'src/engine'],
  },
  { path: 'src/conformance/kit', may: ['src/model'] },
  { path: 'src/conformance/suites/*', may: ['src/conformance/kit', 'codecs/native'] },
  {
    path: 'src/conformance',
    may: [
      'src/model',
      'src/contract',
      'src/backends',
      'src/conformance/kit',
      'node:crypto',
      'node:fs',
      'node:http',
      'node:os',
      'node:path',
    ],
    types: ['node:net'],
    lazy: ['src/conformance/suites/*'],
  },
  { path: 'src/translate', may: ['src/model', 'src/contract', 'src/framing', 'src/engine', 'src/engine/replay'] },
  { path: 'src/matrix', may: ['src/model', 'src/contract', 'src/engine'] },
  {
    path: 'routes',
    may: [
      'src/model',
      'src/contract',
      'src/framing',
      'src/engine',
      'src/cluster',
      'src/describe',
      'src/matrix',
      'src/translate',
      'hono',
      '@hono/node-server',
      'node:crypto',
      'node:fs',
      'node:path',
    ],
    types: ['node:http'],
  },
  // It runs in browsers.
  { path: 'console', may: ['src/framing', 'preact', '@preact/signals'], types: ['src/model'] },
  {
    path: 'observability',
    may: [
      'src/model',
      'src/contract',
      '@opentelemetry/*',
      'pino',
      'node:fs',
      'node:http',
      'node:https',
      'node:path',
      'node:perf_hooks',
      'node:tty',
    ],
  },
  {
    path: 'src/gateway.ts',
    may: ['src/contract', 'src/engine', 'src/backends', 'src/store', 'src/config'],
    lazy: ['src/cluster', 'node:v8'],
  },
  {
    path: 'src/server.ts',
    may: ['routes', '@hono/node-server', 'node:crypto', 'node:fs', 'node:http', 'node:net', 'node:path'],
    types: ['src/config', 'src/contract', 'src/engine'],
  },
  { path: 'src/stdio.ts', may: ['src/engine'], types: ['src/contract'] },
  {
    path: 'src/cli',
    may: [
      'codecs/index.ts',
      'src/contract',
      'src/startup',
      'src/framing',
      'src/config',
      'src/translate',
      'src/matrix',
      'src/gateway.ts',
      'src/server.ts',
      'src/stdio.ts',
      'observability',
      'node:fs',
      'node:net',
      'node:os',
      'node:path',
    ],
    types: ['src/engine', 'src/model'],
    lazy: [
      'codecs/operations.ts',
      'src/conformance',
      'src/store',
      'node:child_process',
      'node:http',
      'node:https',
      'node:readline/promises',
      'node:tls',
      'node:v8',
      'node:vm',
    ],
  },
  { path: 'src/index.ts', may: ['codecs/index.ts', 'src/model', 'src/contract', 'src/engine', 'src/engine/replay'] },
]

/** A folder is entered through its `index.ts`, but for these. */
export const SIDE_DOORS: Readonly<Record<string, string>> = {
  'codecs/native/command-schema.ts': 'the names of the commands, for its conformance suite',
  'codecs/native/read.ts': 'the names of the events, for its conformance suite',
  ...Object.fromEntries(
    globSync('codecs/*/operations.ts', { cwd: join(import.meta.dirname, '../..') }).map((path) => [
      path,
      'the description of its endpoints, which no turn needs',
    ]),
  ),
  'src/config/load.ts': 'reads the file itself, with a YAML parser and schemas: a stand-in does without',
}

/** What a file must not load before something asks for it: all that it reaches by static imports of values. */
export const COLD_STARTS: readonly { from: string; never: readonly string[] }[] = [
  {
    // A stand-in on a running gateway is as quick as a small script.
    from: 'src/cli/as.ts',
    never: [
      'zod',
      'yaml',
      'hono',
      '@hono/node-server',
      'rxjs',
      'undici',
      'valibot',
      'pino',
      '@opentelemetry/*',
      'node:sqlite',
      'pg',
    ],
  },
  { from: 'src/cli/main.ts', never: ['*', 'node:http', 'node:sqlite', 'node:crypto'] },
  // A stand-in that runs its turn itself serves no HTTP, telemetry may be off, and its configuration is compiled.
  {
    from: 'src/cli/standalone.ts',
    never: [
      'zod',
      'yaml',
      'valibot',
      'pino',
      'hono',
      '@hono/node-server',
      'undici',
      '@opentelemetry/*',
      'node:sqlite',
      'pg',
      'node:crypto',
      'node:http',
    ],
  },
  // Where telemetry is on, only the exporters that are asked for.
  {
    from: 'observability/sdk.ts',
    never: ['@opentelemetry/sdk-logs', '@opentelemetry/exporter-*'],
  },
  // The smaller the process that starts agents, the sooner it has started one.
  { from: 'src/backends/starter-main.ts', never: ['*', 'node:crypto', 'node:http', 'node:os', 'node:sqlite'] },
  { from: 'src/cli/serve.ts', never: ['undici', 'valibot', '@opentelemetry/*', 'node:sqlite', 'pg'] },
  // Programs that embed the engine choose their own HTTP server, store and telemetry.
  {
    from: 'src/index.ts',
    never: [
      'zod',
      'yaml',
      'hono',
      '@hono/node-server',
      'undici',
      'valibot',
      'pino',
      'node:http',
      'node:sqlite',
      'pg',
      'node:child_process',
    ],
  },
]

/** Parts that know protocols by their codecs only, never by name. */
export const NAMELESS: readonly string[] = [
  'src/model',
  'src/contract',
  'src/codec-kit',
  'src/framing',
  'src/backends',
  'src/store',
  'src/config',
  'src/engine',
  'src/engine/common',
  'src/engine/events',
  'src/engine/carry',
  'src/engine/agent',
  'src/engine/client',
  'src/engine/turn',
  'src/engine/session',
  'src/engine/record',
  'src/engine/replay',
  'src/engine/dispatch',
  'src/cluster',
  'src/conformance',
  'src/translate',
  'src/matrix',
  'src/gateway.ts',
  'src/server.ts',
  'src/stdio.ts',
  'src/index.ts',
  'routes',
  'observability',
]

/** Parts whose code does the same for the same input, at once: no clock, no chance, no I/O, no promises. */
export const PURE: readonly string[] = [
  'src/model',
  'src/contract',
  'src/codec-kit',
  'src/framing',
  'src/translate',
  'src/matrix',
  'codecs/*',
  'src/conformance/kit',
  'src/conformance/suites/*',
]

/** How code would break that promise. */
export const IMPURE: Readonly<Record<string, RegExp>> = {
  // `respond-async` is a word of HTTP (RFC 7240).
  'a promise': /(?<!-)\basync\b|\bawait\b|\bPromise\b|\.then\(/,
  'a clock': /\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\b/,
  'a timer': /\b(?:setTimeout|setInterval|setImmediate|queueMicrotask)\(/,
  chance: /\bMath\.random\b|\brandomUUID\b/,
  'the process or the network': /\bprocess\.(?:std(?:in|out|err)|exit|on|kill|nextTick)\b|\bfetch\(|\bconsole\./,
}

/** The part of a file (or of `codecs/<name>`), from the root. Undefined when there is none. */
export function partOf(file: string): string | undefined {
  const path = PARTS.find((part) => covers(part.path, file))?.path
  return path !== undefined && isEachFolder(path) ? file.split('/').slice(0, path.split('/').length).join('/') : path
}

/** The rule of a part that `partOf` named. */
export function ruleOf(part: string): Part {
  return PARTS.find(({ path }) => path === part || covers(path, part))!
}

/** Whether a path of the table stands for each folder there on its own. */
function isEachFolder(pattern: string): boolean {
  return /^(?:codecs|src)\/.*\*$/.test(pattern)
}

/** Whether a path of the table covers a file, or a pattern of the table a package or module. */
export function covers(pattern: string, name: string): boolean {
  if (pattern === '*') return !name.startsWith('node:') && !/^(?:src|codecs|routes|observability|console)\b/.test(name)
  if (isEachFolder(pattern))
    return name.startsWith(pattern.slice(0, -1)) && /^[^/.]+(?:\/|$)/.test(name.slice(pattern.length - 1))
  if (pattern.endsWith('*')) return name.startsWith(pattern.slice(0, -1))
  return name === pattern || name.startsWith(`${pattern}/`)
}
