import type { ProtocolSuites } from './kit/index.ts'

/** The suites of every protocol that programs can be tested against, loaded on demand. A new protocol is a row here. */
const PROTOCOLS: Readonly<Record<string, () => Promise<ProtocolSuites>>> = {
  native: async () => (await import('./suites/native/index.ts')).conformance,
  zene: async () => (await import('./suites/zene/index.ts')).conformance,
  zot: async () => (await import('./suites/zot/index.ts')).conformance,
  openharness: async () => (await import('./suites/openharness/index.ts')).conformance,
  agentproc: async () => (await import('./suites/agentproc/index.ts')).conformance,
  qwen: async () => (await import('./suites/qwen/index.ts')).conformance,
  'qwen-code': async () => (await import('./suites/qwen-code/index.ts')).conformance,
  acp: async () => (await import('./suites/acp/index.ts')).conformance,
  openai: async () => (await import('./suites/openai/index.ts')).conformance,
  anthropic: async () => (await import('./suites/anthropic/index.ts')).conformance,
}

/** The names of the protocols that programs can be tested against. */
export const testedProtocols: readonly string[] = Object.keys(PROTOCOLS)

/** The suites of one protocol, or undefined for an unknown name. */
export async function loadSuites(protocol: string): Promise<ProtocolSuites | undefined> {
  return Object.hasOwn(PROTOCOLS, protocol) ? PROTOCOLS[protocol]!() : undefined
}
