import type { AnyCodec, StandInFacts } from '../src/contract/index.ts'

/** A protocol: its codec, and what its stand-ins know before the codec is loaded. */
interface Protocol {
  readonly load: () => Promise<{ readonly codec: AnyCodec }>
  readonly standIn?: StandInFacts
}

/** Every protocol, loaded when it is asked for. A new one is a folder and a row here. */
const PROTOCOLS: Readonly<Record<string, Protocol>> = {
  native: { load: () => import('./native/index.ts'), standIn: { noArguments: true } },
  zene: {
    load: () => import('./zene/index.ts'),
    standIn: {
      programs: ['zene'],
      env: [
        'ZENE_STDIN_TIMEOUT_MS',
        'ZENE_MAX_CONCURRENCY',
        'ZENE_IDEMPOTENCY_TTL_SEC',
        'ZENE_IDEMPOTENCY_MAX_KEYS',
        'ZENE_IDEMPOTENCY_REPLAY_MARKER',
      ],
      oneShot: true,
      exit: { configuration: 3, unwritten: 4 },
    },
  },
  zot: { load: () => import('./zot/index.ts'), standIn: { programs: ['zot'], env: ['ZOTCORE_RPC_TOKEN'] } },
  openharness: { load: () => import('./openharness/index.ts'), standIn: { noArguments: true, oneShot: true } },
  agentproc: {
    load: () => import('./agentproc/index.ts'),
    standIn: {
      env: [
        'AGENT_MESSAGE',
        'AGENT_SESSION_ID',
        'AGENT_SESSION_NAME',
        'AGENT_FROM_USER',
        'AGENT_STREAMING',
        'AGENT_PROTOCOL_VERSION',
        'AGENT_IMAGE_URL',
        'AGENT_FILE_URL',
        'AGENT_ATTACHMENTS',
      ],
      noArguments: true,
      oneShot: true,
    },
  },
  qwen: { load: () => import('./qwen/index.ts'), standIn: { programs: ['qwen'] } },
  'qwen-code': { load: () => import('./qwen-code/index.ts') },
  'claude-code': { load: () => import('./claude-code/index.ts'), standIn: { none: true } },
  codex: { load: () => import('./codex/index.ts'), standIn: { none: true } },
  openai: { load: () => import('./openai/index.ts'), standIn: { none: true } },
  anthropic: { load: () => import('./anthropic/index.ts'), standIn: { none: true } },
  acp: { load: () => import('./acp/index.ts'), standIn: { noArguments: true } },
}

/** The names of all protocols. */
export const codecNames: readonly string[] = Object.keys(PROTOCOLS)

/** The names of the protocols whose clients start a program. */
export const standInNames: readonly string[] = codecNames.filter((name) => !standInFacts(name).none)

/** One protocol's codec, or undefined when there is none of that name. */
export async function loadCodec(name: string): Promise<AnyCodec | undefined> {
  return (await protocolOf(name)?.load())?.codec
}

/** The codecs of these names, by name; all of them when none is named. */
export async function loadCodecs(names: readonly string[] = codecNames): Promise<Record<string, AnyCodec>> {
  const loaded = await Promise.all(names.map(async (name) => [name, (await loadCodec(name))!] as const))
  return Object.fromEntries(loaded)
}

/** Returns the facts that a stand-in needs before it loads its codec. */
export function standInFacts(name: string): StandInFacts {
  return protocolOf(name)?.standIn ?? {}
}

/** The protocol whose own program has this name. */
export function protocolOfProgram(program: string): string | undefined {
  return codecNames.find((name) => standInFacts(name).programs?.includes(program))
}

function protocolOf(name: string): Protocol | undefined {
  return Object.hasOwn(PROTOCOLS, name) ? PROTOCOLS[name] : undefined
}
