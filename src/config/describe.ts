import { stringify } from 'yaml'
import type { Limits, Pool } from '../contract/index.ts'
import { isRecord } from '../model/index.ts'
import { formatDuration, formatSize } from './duration.ts'
import { argumentSecret, SECRET_NAME } from './redact.ts'
import type { AgentConfig, Config, Resources, ServerConfig } from './types.ts'

/** The replacement of a secret. */
const HIDDEN = '***'

/**
 * The resolved configuration as YAML for people. Client keys, values of environments and headers, and options and
 * arguments named like secrets are hidden; values of variables are shown as `${NAME}`.
 */
export function describeConfig(config: Config): string {
  const { telemetry, cluster } = config
  const plain = {
    server: describeServer(config.server),
    default: config.default,
    agents: Object.fromEntries([...config.agents].map(([name, agent]) => [name, describeAgent(agent)])),
    limits: describeLimits(config.limits),
    routes: config.routes.map((route) => ({ ...route, limits: route.limits && describeLimits(route.limits) })),
    store: {
      ...config.store,
      ...(config.store.kind === 'postgres' && { url: maskUrl(config.store.url) }),
      retention: formatDuration(config.store.retention),
    },
    cluster: cluster && {
      ...cluster,
      secrets: cluster.secrets.map(() => HIDDEN),
      lease: formatDuration(cluster.lease),
    },
    telemetry: telemetry && {
      ...telemetry,
      otlp: maskUrl(telemetry.otlp),
      headers: hideValues(telemetry.headers),
      traces: maskUrl(telemetry.traces),
    },
    log: config.log,
  }
  return stringify(redactTexts(plain, config.redact), { aliasDuplicateObjects: false, lineWidth: 0 })
}

function describeServer(server: ServerConfig): unknown {
  const keys = server.keys.map(({ name, secret, hash: _hash, ...rest }) => ({
    name,
    [secret === undefined ? 'hash' : 'secret']: HIDDEN,
    ...rest,
  }))
  const { connections, ...times } = server.limits
  const limits = Object.entries(times).map(([name, ms]) => [name, formatDuration(ms)])
  return { ...server, keys, limits: { ...Object.fromEntries(limits), connections } }
}

function describeAgent(agent: AgentConfig): unknown {
  const { name, dialect, protocol, command, args, env, url, headers, pool, limits, options, breaker, health, ...more } =
    agent
  const { wrap, resources, ...rest } = more
  return {
    protocol: `${protocol}@${dialect}`,
    ...rest,
    wrap: wrap && maskArguments(wrap),
    resources: resources && describeResources(resources),
    command,
    args: args && maskArguments(args),
    env: hideValues(env),
    url: maskUrl(url),
    headers: hideValues(headers),
    pool: describePool(pool),
    limits: describeLimits(limits),
    breaker: { failures: breaker.failures, cooldown: formatDuration(breaker.cooldown) },
    health: health && { every: formatDuration(health.every), timeout: formatDuration(health.timeout) },
    options: hideSecrets(options),
  }
}

function describePool({ idle, ...numbers }: Pool): unknown {
  return { ...numbers, idle: formatDuration(idle) }
}

function describeResources({ memory, cpu, fileSize, ...counts }: Resources): unknown {
  return {
    memory: memory && formatSize(memory),
    cpu: cpu && formatDuration(cpu),
    fileSize: fileSize && formatSize(fileSize),
    ...counts,
  }
}

function describeLimits(limits: Partial<Limits>): unknown {
  const format: Partial<Record<string, (amount: number) => unknown>> = {
    line: formatSize,
    body: formatSize,
    answer: formatSize,
    queue: (turns) => turns,
  }
  return Object.fromEntries(
    Object.entries(limits).map(([name, amount]) => [name, (format[name] ?? formatDuration)(amount)]),
  )
}

function hideValues(values: Readonly<Record<string, string>> | undefined): unknown {
  return values && Object.fromEntries(Object.keys(values).map((name) => [name, HIDDEN]))
}

/** Hides the argument of `--token X` and `--token=X`. */
function maskArguments(args: readonly string[]): string[] {
  return args.map((arg, index) => {
    const secret = argumentSecret(args, index)
    return secret === undefined ? arg : arg.slice(0, arg.length - secret.length) + HIDDEN
  })
}

/** Hides the password and the values of the query. */
function maskUrl(url: string | undefined): string | undefined {
  return url?.replace(/^(\w+:\/\/[^/?#@]*?):[^/?#]*@/, `$1:${HIDDEN}@`).replace(/([?&][^=&#]*)=[^&#]*/g, `$1=${HIDDEN}`)
}

/** Hides the texts below a key that is named like a secret, except the name of a variable in `env`. */
function hideSecrets(value: unknown, secret = false): unknown {
  if (Array.isArray(value)) return value.map((item) => hideSecrets(item, secret))
  if (isRecord(value)) {
    const entries = Object.entries(value).map(([name, inner]) => [
      name,
      hideSecrets(inner, (secret && !(name === 'env' && typeof inner === 'string')) || SECRET_NAME.test(name)),
    ])
    return Object.fromEntries(entries)
  }
  return secret && typeof value === 'string' ? HIDDEN : value
}

function redactTexts(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return redact(value)
  if (Array.isArray(value)) return value.map((item) => redactTexts(item, redact))
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, redactTexts(inner, redact)]))
}
