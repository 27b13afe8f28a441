import { readCarrier } from '../../observability/index.ts'
import { LOCAL_TENANT } from '../contract/index.ts'
import { serveStdio } from '../stdio.ts'
import { configureAlone } from './alone-config.ts'
import type { Refusal } from './last-words.ts'
import { type Setup, setUp } from './setup.ts'
import type { ThinOptions } from './thin.ts'
import { unwritten } from './unwritten.ts'

/**
 * Serves a stand-in within this process. Returns its exit code when everything is written and no agent runs any more, or
 * why there is no gateway to be made of the configuration.
 */
export async function runAlone(
  file: string,
  { protocol, facts, argv, agent, env }: ThinOptions,
): Promise<number | Refusal> {
  const setup = await trySetUp(file, protocol, env)
  if ('told' in setup) return setup
  const { codecs, gateway, close } = setup
  const exitCode = await serveStdio(
    {
      engine: gateway.engine,
      codec: codecs[protocol]!,
      argv,
      env,
      carrier: readCarrier(env, { baggage: true }),
      tenant: LOCAL_TENANT,
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

/** The gateway, or what is wrong: a client is told no more than who can say it. */
async function trySetUp(file: string, protocol: string, env: ThinOptions['env']): Promise<Setup | Refusal> {
  try {
    return await setUp(await configureAlone(file, protocol), { env, alone: true })
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    return { told: 'the configuration cannot be used; "turnpike check" says why', detail }
  }
}
