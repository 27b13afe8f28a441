import { createHash } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync, readlinkSync, symlinkSync, unlinkSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, Server, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import {
  type Access,
  type ConsoleParts,
  createApp,
  Gate,
  type HttpParts,
  type KeyRule,
  type MetricsText,
  watchEnd,
  writeHeaders,
} from '../routes/index.ts'
import type { ServerConfig, ServerKey, ServerLimits } from './config/index.ts'
import type { AnyCodec } from './contract/index.ts'
import type { Engine } from './engine/index.ts'

export type { ConsoleParts } from '../routes/index.ts'

/** A listening server. `close` stops listening and closes open connections, each when it has sent what was written to it. */
export interface HttpServer {
  url: string
  /** Replaces keys and names; the address does not change. Throws when the server would be open to everybody. */
  reload(config: ServerConfig): void
  close(): Promise<void>
}

/** The interval of checks for late headers, in milliseconds. */
const CHECK_MS = 5000

/** The interval at which the processes that share a store hear of each other's requests, in milliseconds. */
const SHARE_MS = 1000

/** The longest wait of a server that closes for clients that do not read their answers, in milliseconds. */
const SENDING_MS = 2000

/** The served parts. */
export interface ServerParts {
  engine: Engine
  codecs: readonly AnyCodec[]
  version: string
  /** The command that starts this program, as its user can type it. */
  command: string
  /** The option by which its user names the configuration to a command, with a space before it; absent: none is needed. */
  naming?: string
  /** The option by which a stand-in finds the configuration from any folder. */
  configOption?: string
  /** The protocols whose clients start a program. */
  standIns?: readonly string[]
  /** The descriptions of the protocols' endpoints. */
  operations?: HttpParts['operations']
  /** Present where there are other replicas: the wires to them. */
  peers?: HttpParts['peers']
  /** Requests wait until this has resolved. */
  opened?: Promise<void>
  /** The metrics of `GET /metrics`; absent: no such endpoint. */
  metrics?: MetricsText
  /** The console; absent: it is not served. */
  console?: ConsoleParts
}

/**
 * The remedies when an address cannot be bound, by the system's error code. They end with what to type next; `naming` is
 * the option that names the configuration.
 */
const REMEDIES: Readonly<Record<string, (port: number, command: string, naming: string) => string>> = {
  EADDRINUSE: (port, command, naming) =>
    `another program listens there; stop it, or choose another port: ${command} serve${naming} --port ${Math.min(port + 1, 65_535)}`,
  EACCES: (_, command, naming) =>
    `this user may not listen there; choose a port above 1023: ${command} serve${naming} --port 8484`,
  EADDRNOTAVAIL: (_, command, naming) =>
    `this machine does not have that address; correct server.host, then: ${command} check${naming}`,
}

/** Serves the gateway over HTTP. Rejects, with the remedy, when the address cannot be bound. */
export async function startServer(config: ServerConfig, parts: ServerParts): Promise<HttpServer> {
  const gate = new Gate({ ...accessOf(config), bound: config.host })
  const serving = httpServer(gate, parts, config.limits)
  const { server } = serving
  await listen(server, { host: config.host, port: config.port }).catch((error: NodeJS.ErrnoException) => {
    const why = REMEDIES[error.code ?? '']?.(config.port, parts.command, parts.naming ?? '') ?? error.message
    throw new Error(`cannot listen on ${config.host} port ${config.port}: ${why}`)
  })
  const { port, address } = server.address() as { port: number; address: string }
  const host = address.includes(':') ? `[${address}]` : address
  // While the store cannot be used, each process counts its own requests.
  const share = (): Promise<void> =>
    gate.shareRates((taken) => parts.engine.sharedCounts.exchange(taken)).catch(() => {})
  const sharing = setInterval(() => void share(), SHARE_MS).unref()
  return {
    url: `http://${host}:${port}`,
    reload: (next) => gate.reload(accessOf(next)),
    close: () => {
      clearInterval(sharing)
      return closeServer(serving)
    },
  }
}

/**
 * Serves the gateway on a Unix socket that only this user can open, without keys. A socket without a listener is
 * replaced. Rejects when another gateway listens there.
 */
export async function startSocket(path: string, parts: ServerParts, limits: ServerLimits): Promise<HttpServer> {
  await clearPlace(path)
  const gate = new Gate({ bound: 'localhost', hosts: [], origins: [], keys: [] })
  const serving = httpServer(gate, parts, limits)
  await listen(serving.server, { path })
  chmodSync(path, 0o600)
  return { url: `unix:${path}`, reload() {}, close: () => closeServer(serving) }
}

/**
 * Gives a listening socket a further name: a symbolic link in a folder that only this user may enter. Returns a
 * function that removes the name. Rejects when another gateway listens there.
 */
export async function nameSocket(path: string, name: string): Promise<() => void> {
  await clearPlace(name)
  symlinkSync(path, name)
  return () => {
    try {
      if (readlinkSync(name) === path) unlinkSync(name)
    } catch {
      // Another process has taken the path.
    }
  }
}

/**
 * Prepares the path of a socket or its further name: the folder exists and is this user's alone, and nobody listens at
 * the path.
 */
async function clearPlace(path: string): Promise<void> {
  const folder = dirname(path)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { uid, mode } = lstatSync(folder)
  if (uid !== process.getuid?.() || (mode & 0o077) !== 0) throw new Error(`${folder} is open to other users`)
  if (await answers(path)) throw new Error(`another gateway listens on ${path}`)
  removeSocket(path)
}

/** A server with its open connections. */
interface Serving {
  server: ReturnType<typeof createServer>
  sockets: ReadonlySet<Socket>
}

function httpServer(gate: Gate, served: ServerParts, limits: ServerLimits): Serving {
  const { engine } = served
  const parts: HttpParts = {
    ...served,
    gate,
    patience: () => ({ body: limits.body, read: engine.settings.limits.idle }),
  }
  const app = createApp(parts)
  const listener = getRequestListener((request, env) => answered(app.fetch(request, env as HttpBindings)), {
    // The fronts read the request and write the answer themselves.
    autoCleanupIncoming: false,
    overrideGlobalObjects: false,
  })
  const options = {
    headersTimeout: limits.headers,
    keepAliveTimeout: limits.keepAlive,
    // Whole bodies have a time limit of their own; bodies in lines may last as long as their turns.
    requestTimeout: 0,
    connectionsCheckingInterval: Math.min(limits.headers, CHECK_MS),
  }
  const take = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    watchEnd(incoming, outgoing, parts.patience())
    if (!writeHeaders(gate, incoming, outgoing)) void listener(incoming, outgoing)
  }
  let { opened } = served
  void opened?.then(() => {
    opened = undefined
  })
  const server = createServer(options, (incoming, outgoing) => {
    if (opened) void opened.then(() => take(incoming, outgoing))
    else take(incoming, outgoing)
  })
  // Handles an unknown Expect header, which Node would answer by itself.
  server.on('checkExpectation', (incoming, outgoing) => {
    watchEnd(incoming, outgoing, parts.patience())
    outgoing.writeHead(417).end()
  })
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.maxConnections = limits.connections
  // A client that closes its sending side after a whole request still gets the answer; `watchHalfClose` detects disconnects.
  Object.assign(server, { httpAllowHalfOpen: true })
  return { server, sockets }
}

/** A front answers by itself: reading that from the headers of its `Response` would be a thirtieth of a short turn. */
function answered(response: Response | Promise<Response>): Response | Promise<Response> {
  return response === RESPONSE_ALREADY_SENT ? new Promise(() => {}) : response
}

function listen(server: Server, address: { host: string; port: number } | { path: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(address, () => {
      server.off('error', reject)
      // Later errors are connections that could not be accepted, which the system reports to their clients.
      server.on('error', () => {})
      resolve()
    })
  })
}

/** True when a process accepts connections on the socket. */
function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path, () => {
      probe.destroy()
      resolve(true)
    })
    probe.on('error', () => resolve(false))
  })
}

/** Removes a socket without a listener, or the further name of one. */
function removeSocket(path: string): void {
  try {
    const found = lstatSync(path)
    if (found.isSocket() || found.isSymbolicLink()) unlinkSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

function closeServer({ server, sockets }: Serving): Promise<void> {
  return new Promise((resolve) => {
    const impatient = setTimeout(() => server.closeAllConnections(), SENDING_MS)
    // That of HTTP destroys connections with an answer that is written, but not sent yet.
    Server.prototype.close.call(server, () => {
      clearTimeout(impatient)
      // Nothing is left to close but its checks for late headers.
      server.close()
      resolve()
    })
    for (const socket of sockets) socket.destroySoon()
  })
}

/** The admission rules of a configuration. */
function accessOf({ keys, hosts = [], origins = [] }: ServerConfig): Omit<Access, 'bound'> {
  return { keys: keys.map(keyRule), hosts: hosts.map((host) => host.toLowerCase()), origins }
}

function keyRule({ name, role, secret = '', hash, agents, fronts, limits }: ServerKey): KeyRule {
  const sha256 = hash ?? createHash('sha256').update(secret).digest('hex')
  const { perMinute, burst = perMinute } = limits ?? {}
  return {
    name,
    role,
    sha256,
    ...(agents && { agents }),
    ...(fronts && { fronts }),
    ...(perMinute !== undefined && burst !== undefined && { rate: { perMinute, burst } }),
  }
}
