import type { AnyCodec, Checks } from '../src/contract/index.ts'

/** Every protocol: one lazy import each. A new one is a folder and a line here. */
const CODECS = {
  native: () => import('./native/index.ts'),
  zene: () => import('./zene/index.ts'),
  zot: () => import('./zot/index.ts'),
  openharness: () => import('./openharness/index.ts'),
  agentproc: () => import('./agentproc/index.ts'),
  qwen: () => import('./qwen/index.ts'),
  'qwen-code': async () => ({ codec: (await import('./qwen/index.ts')).shipped }),
} satisfies Record<string, () => Promise<{ codec: AnyCodec }>>

/** The names of all protocols. */
export const codecNames: readonly string[] = Object.keys(CODECS)

/** One protocol's codec, or undefined when there is none of that name. */
export async function loadCodec(name: string): Promise<AnyCodec | undefined> {
  if (!Object.hasOwn(CODECS, name)) return undefined
  return (await CODECS[name as keyof typeof CODECS]()).codec
}

/** The codecs of these names, by name; all of them when none is named. */
export async function loadCodecs(names: readonly string[] = codecNames): Promise<Record<string, AnyCodec>> {
  const loaded = await Promise.all(names.map(async (name) => [name, (await loadCodec(name))!] as const))
  return Object.fromEntries(loaded)
}

/** The conformance checks of protocols; loaded for `turnpike conformance` alone. */
const CHECKS: Readonly<Record<string, () => Promise<Checks>>> = {
  zene: async () => (await import('./zene/checks.ts')).checks,
  zot: async () => (await import('./zot/checks.ts')).checks,
  openharness: async () => (await import('./openharness/checks.ts')).checks,
  agentproc: async () => (await import('./agentproc/checks.ts')).checks,
  qwen: async () => (await import('./qwen/checks.ts')).checks,
  'qwen-code': async () => (await import('./qwen/checks.ts')).shippedChecks,
}

/** The names of the protocols that programs can be tested against. */
export const checkedNames: readonly string[] = Object.keys(CHECKS)

/** The rules of one protocol, with what is done to test them; undefined when there are none of that name. */
export async function loadChecks(name: string): Promise<Checks | undefined> {
  return Object.hasOwn(CHECKS, name) ? CHECKS[name]!() : undefined
}
