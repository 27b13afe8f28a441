import { readCarrier } from '../../observability/index.ts'
import { serveStdio } from '../stdio.ts'
import { configureAlone } from './alone-config.ts'
import { type Setup, setUp } from './setup.ts'
import type { ThinOptions } from './thin.ts'
import { unwritten } from './unwritten.ts'

/** Sessions of a stand-in belong to the person at this machine, like those of a gateway without keys. */
const TENANT = 'local'

/**
 * Serves a stand-in within this process. Returns its exit code when everything is written and no agent runs any more, or
 * why there is no gateway to be made of the configuration.
 */
export async function runAlone(
  file: string,
  { protocol, facts, argv, agent, env }: ThinOptions,
): Promise<number | string> {
  const setup = await trySetUp(file, protocol, env, facts.oneShot === true)
  if (typeof setup === 'string') return setup
  const { codecs, gateway, close } = setup
  const exitCode = await serveStdio(
    {
      engine: gateway.engine,
      codec: codecs[protocol]!,
      argv,
      env,
      carrier: readCarrier(env, { baggage: true }),
      tenant: TENANT,
      ...(agent !== undefined && { agent }),
    },
    process,
    (error) => unwritten(facts, error),
  )
  // There may never be a gateway to do it on this store. What goes wrong with it is none of the client's business.
  await gateway.engine.recover().catch(() => {})
  await close(0)
  return exitCode
}

/** The gateway, or what is wrong. Where that is shown to a client, it says no more than who can tell. */
async function trySetUp(
  file: string,
  protocol: string,
  env: ThinOptions['env'],
  shown: boolean,
): Promise<Setup | string> {
  try {
    return await setUp(await configureAlone(file, protocol), { env, alone: true })
  } catch (error) {
    if (shown) return 'the configuration cannot be used; "turnpike check" says why'
    return error instanceof Error ? error.message : String(error)
  }
}
