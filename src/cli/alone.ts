import { readCarrier } from '../../observability/index.ts'
import { serveStdio } from '../stdio.ts'
import { setUp } from './setup.ts'
import type { ThinOptions } from './thin.ts'

/** Sessions of a stand-in belong to the person at this machine, like those of a gateway without keys. */
const TENANT = 'local'

/** Serves a stand-in within this process. Returns its exit code when everything is written and no agent runs any more. */
export async function runAlone(file: string, { protocol, argv, agent, env }: ThinOptions): Promise<number> {
  const { codecs, gateway, close } = await setUp(file, { only: protocol })
  const exitCode = await serveStdio(
    {
      engine: gateway.engine,
      codec: codecs[protocol]!,
      argv,
      env,
      carrier: readCarrier(env),
      tenant: TENANT,
      ...(agent !== undefined && { agent }),
    },
    process,
  )
  await close(0)
  return exitCode
}
