import { createHash } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { createApp, type KeyRule } from '../routes/index.ts'
import type { ServerConfig, ServerKey } from './config/index.ts'
import type { AnyCodec } from './contract/index.ts'
import type { Engine } from './engine/index.ts'

/** A server that listens. `close` stops listening and cuts what is still open. */
export interface HttpServer {
  url: string
  close(): Promise<void>
}

/** How long the headers and the whole request may take to arrive, in milliseconds. */
const HEADERS_MS = 20_000
const REQUEST_MS = 120_000

/** Serves the gateway over HTTP. Rejects when the address cannot be bound. */
export function startServer(
  config: ServerConfig,
  parts: { engine: Engine; codecs: readonly AnyCodec[]; version: string },
): Promise<HttpServer> {
  const app = createApp({
    ...parts,
    keys: config.keys.map(keyRule),
    bound: config.host,
    hosts: config.hosts ?? [],
  })
  return new Promise((resolve, reject) => {
    const listening = ({ port, address }: AddressInfo): void => {
      const host = address.includes(':') ? `[${address}]` : address
      resolve({ url: `http://${host}:${port}`, close: () => closeServer(server) })
    }
    const server = serve(
      {
        fetch: app.fetch,
        hostname: config.host,
        port: config.port,
        autoCleanupIncoming: false,
        overrideGlobalObjects: false,
        serverOptions: { headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS },
      },
      listening,
    )
    server.once('error', reject)
  })
}

function closeServer(server: ReturnType<typeof serve>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    if ('closeAllConnections' in server) server.closeAllConnections()
  })
}

function keyRule({ name, secret, hash, agents }: ServerKey): KeyRule {
  const sha256 =
    hash ??
    createHash('sha256')
      .update(secret ?? '')
      .digest('hex')
  return { name, sha256, ...(agents && { agents }) }
}
