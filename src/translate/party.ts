import type { AnyCodec, BackContext, Dialect, FrontContext } from '../contract/index.ts'
import { RecordedClient } from '../engine/observables.ts'
import type { Wire } from './recording.ts'
import type { Translation } from './translation.ts'

/** One dialect of a protocol, with the validated options of its agents. */
export interface Party {
  codec: AnyCodec
  /** Name of the dialect. */
  dialect: string
  options: unknown
}

/** The dialect that a party speaks. */
export function dialectOf({ codec, dialect }: Party): Dialect {
  return codec.dialects[dialect]!
}

/** What a back link is opened with, when nothing is started. */
export function backContext({ options }: Party, argv: readonly string[] | undefined): BackContext<unknown> {
  const process = { command: 'agent', env: {}, cwd: '/', ...(argv && { args: argv }) }
  return { options, agent: 'agent', env: {}, folder: '/', process }
}

/** What a front link is opened with, when nobody is connected. */
export function clientContext({
  http,
  argv = [],
  env = {},
}: {
  http?: { method: string; path: string; headers: Readonly<Record<string, string>> }
  argv?: readonly string[]
  env?: Readonly<Record<string, string>>
}): FrontContext {
  const [path = '', query = ''] = (http?.path ?? argv[0] ?? '').split('?', 2)
  return {
    transport: http ? 'http' : 'stdio',
    method: http?.method ?? '',
    path,
    query: http ? query : '',
    headers: http?.headers ?? {},
    argv,
    env,
  }
}

/** What the front half of a recorded client is opened with. */
export function clientContextOf({ http, argv, env }: Wire, how: Translation): FrontContext {
  return clientContext(http ? { http } : { argv: argv ?? how.argv ?? [], env })
}

/** The request of a client may be its arguments or its environment alone. */
export function asksByItself(wire: Wire, how: Translation): boolean {
  if (Object.keys(wire.env).length === 0 && (wire.argv ?? how.argv) === undefined) return false
  let asks = false
  const probe = new RecordedClient(dialectOf(how.from), clientContextOf(wire, how), 'agent', {
    command: () => {
      asks = true
    },
  })
  probe.open()
  probe.end()
  return asks
}
