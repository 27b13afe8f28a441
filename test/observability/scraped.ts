import { loadCodecs } from '../../codecs/index.ts'
import { Metrics } from '../../observability/metrics.ts'
import { silentHooks } from '../../src/contract/index.ts'
import { type HttpServer, startServer } from '../../src/server.ts'
import { startGateway, type TestGateway } from '../kit/gateway.ts'

/** The samples of a scrape: `name{label="value"}` with sorted labels, as Prometheus would show them. */
export type Samples = ReadonlyMap<string, number>

/** Reads Prometheus text; throws at a line that is neither a comment nor a sample. */
export function readSamples(text: string): Samples {
  const samples = new Map<string, number>()
  for (const line of text.trimEnd().split('\n')) {
    if (/^# (?:HELP|TYPE) /.test(line)) continue
    const [, name, labels = '', value] = /^([a-z0-9_]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
    if (name === undefined) throw new Error(`no sample: ${line}`)
    const sorted = (labels.match(/[a-z0-9_]+="(?:[^"\\]|\\.)*"/g) ?? []).toSorted().join(',')
    samples.set(sorted === '' ? name : `${name}{${sorted}}`, Number(value))
  }
  return samples
}

/** The samples whose name begins like this, without buckets. */
export function matching(samples: Samples, prefix: string): Record<string, number> {
  return Object.fromEntries([...samples].filter(([name]) => name.startsWith(prefix) && !name.includes('_bucket')))
}

/** A gateway that counts, with an endpoint to read the numbers from. */
export interface CountedGateway {
  gateway: TestGateway
  scrape(): Promise<Samples>
  text(): Promise<string>
  close(): Promise<void>
}

/** Starts a gateway of this configuration, counted as `turnpike serve` counts it. */
export async function startCounted(yaml: string): Promise<CountedGateway> {
  const metrics = new Metrics()
  const gateway = await startGateway(yaml, { hooks: metrics.hooks(silentHooks) })
  const { engine, config } = gateway
  metrics.watchBreakers(() =>
    [...engine.settings.agents.values()].map((agent) => ({ agent: agent.name, state: engine.breakers.state(agent) })),
  )
  metrics.watchStore(engine.storeWatch)
  const parts = { engine, codecs: Object.values(await loadCodecs()), version: '0', command: 'turnpike' }
  const server: HttpServer = await startServer({ ...config.server, port: 0 }, { ...parts, metrics })
  const text = async (): Promise<string> => (await fetch(`${server.url}/metrics`)).text()
  return {
    gateway,
    text,
    scrape: async () => readSamples(await text()),
    async close() {
      await gateway.close()
      await server.close()
      metrics.close()
    },
  }
}
