/** Gateways between clients and servers of models: Chat Completions in and out. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench, Server } from '../bench.ts'
import { askModel, modelGateway, modelServer } from '../models.ts'
import { benchFile } from '../processes.ts'
import { freePort, fromNpm, fromPyPi, serve } from './install.ts'
import type { Peer, Per } from './peer.ts'

const streams = (per: Per): boolean => per === 'event'

/** What all of them share: the same load, on the same server of models. */
const CHAT = {
  what: 'Chat Completions in and out',
  own: async (bench: Bench, per: Per) => askModel(bench, await modelGateway(bench), 'chat', streams(per)),
  load: (bench: Bench, server: Server, per: Per) => askModel(bench, server, 'chat', streams(per)),
}

/** The base URL of the server of models. */
async function upstream(bench: Bench): Promise<string> {
  return `http://127.0.0.1:${(await modelServer(bench)).port}/v1`
}

const PORTKEY_VERSION = '1.15.2'

/** https://github.com/Portkey-AI/gateway, which gets the server in headers of each request. */
export const PORTKEY: Peer = {
  ...CHAT,
  name: 'portkey',
  version: PORTKEY_VERSION,
  limitedBy: 'it passes bodies on, and records nothing',
  // On Node.js 24 it answers streamed requests with status 500.
  budgets: { turn: 1 },
  install: (bench) => fromNpm(bench, `@portkey-ai/gateway@${PORTKEY_VERSION}`),
  async start(bench, folder) {
    const port = await freePort()
    const program = join(folder, '@portkey-ai/gateway/build/start-server.js')
    return serve(bench, { port }, process.execPath, [program, `--port=${port}`, '--headless'])
  },
  async load(bench, server, per) {
    const custom = { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': await upstream(bench) }
    return askModel(bench, server, 'chat', streams(per), { ...custom, authorization: 'Bearer none' })
  },
}

const LLMS_VERSION = '1.0.53'

/** https://github.com/musistudio/llms, the server of claude-code-router: a library, with a program of ours around it. */
export const LLMS: Peer = {
  ...CHAT,
  name: 'llms',
  version: LLMS_VERSION,
  limitedBy: 'it records nothing',
  budgets: { turn: 1, event: 1 },
  install: (bench) => fromNpm(bench, `@musistudio/llms@${LLMS_VERSION}`),
  async start(bench, folder) {
    const port = await freePort()
    const args = [benchFile('peers/llms.cjs'), folder, String(port), await upstream(bench)]
    return serve(bench, { port }, process.execPath, args)
  },
}

const LITELLM_VERSION = '1.108.7'

/** https://github.com/BerriAI/litellm, its proxy with one worker. */
export const LITELLM: Peer = {
  ...CHAT,
  name: 'litellm',
  version: LITELLM_VERSION,
  limitedBy: 'not known',
  budgets: { turn: 0.125, event: 0.333 },
  install: (bench) => fromPyPi(bench, `litellm[proxy]==${LITELLM_VERSION}`),
  async start(bench, folder) {
    const port = await freePort()
    const config = join(bench.workshop.folder, 'litellm.yaml')
    const server = { model: 'openai/m', api_base: await upstream(bench), api_key: 'none' }
    writeFileSync(config, JSON.stringify({ model_list: [{ model_name: 'chat', litellm_params: server }] }))
    const args = ['--config', config, '--host', '127.0.0.1', '--port', String(port), '--telemetry', 'False']
    const env = { LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY: 'true', LITELLM_LOCAL_MODEL_COST_MAP: 'true' }
    return serve(bench, { port, path: '/health/liveliness' }, join(folder, 'litellm'), args, env)
  },
}
