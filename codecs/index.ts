import type { AnyCodec } from '../src/contract/index.ts'

/** Every protocol: one lazy import each. A new one is a folder and a line here. */
const CODECS = {
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

/** All codecs by name. */
export async function loadCodecs(): Promise<Record<string, AnyCodec>> {
  const loaded = await Promise.all(codecNames.map(async (name) => [name, (await loadCodec(name))!] as const))
  return Object.fromEntries(loaded)
}
