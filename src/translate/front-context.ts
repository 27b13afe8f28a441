import type { Call, FrontContext } from '../contract/index.ts'
import { RecordedClient } from '../engine/replay/index.ts'
import { frontOf, type Party } from './party.ts'
import type { Wire } from './recording.ts'
import type { Translation } from './translation.ts'

/** The context of a front link without a connected client. */
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

/** The context of the front half that a call of this party's back half reaches. */
export function callContext(party: Party, call: Call): FrontContext {
  if (call.kind === 'process') {
    const names = frontOf(party).front.env
    const env = Object.fromEntries(Object.entries(call.env ?? {}).filter(([name]) => names.includes(name)))
    return clientContext({ argv: call.args ?? [], env })
  }
  const { codec, dialect } = party
  const first = Object.keys(codec.dialects)[0]
  const own = codec.endpoints.filter((known) => (known.dialect ?? first) === dialect)
  const { method, path = '' } = call
  const endpoint = own.find((known) => known.method === method && known.path.endsWith(path)) ?? own[0]
  return clientContext({ http: { method, path: endpoint?.path ?? '/', headers: call.headers ?? {} } })
}

/** The context of the front half of a recorded client. */
export function clientContextOf({ http, argv, env }: Wire, how: Translation): FrontContext {
  return clientContext(http ? { http } : { argv: argv ?? how.argv ?? [], env })
}

/** The request of a client may be its arguments or its environment alone. */
export function asksByItself(wire: Wire, how: Translation): boolean {
  if (Object.keys(wire.env).length === 0 && (wire.argv ?? how.argv) === undefined) return false
  let asks = false
  const probe = new RecordedClient(
    { dialect: frontOf(how.from), context: clientContextOf(wire, how) },
    {
      command: () => {
        asks = true
      },
    },
  )
  probe.open()
  probe.end()
  return asks
}
