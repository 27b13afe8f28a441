import type { RpcWriter } from '../../../src/codec-kit/index.ts'
import type { FrontPorts } from '../../../src/contract/index.ts'
import type { Item } from '../../../src/model/index.ts'
import type { Session } from './session.ts'

/** The optional things that a client can show. */
export interface Shows {
  readonly notices: boolean
  readonly booleans: boolean
  readonly forms: boolean
  readonly urls: boolean
}

/** The state of one client while its connection lasts. */
export interface Client {
  readonly ports: FrontPorts
  readonly writer: RpcWriter
  /** The sessions that are open on this connection, by their ids. */
  readonly sessions: Map<string, Session>
  /** The client's announced capabilities; undefined before `initialize`. */
  shows: Shows | undefined
  /** The name of its agent, once known. */
  agent: string | undefined
  /** The things that its agent carries; undefined while unknown. */
  carries: ReadonlySet<Item> | undefined
}

/** True when the client's agent carries this, as far as is known. */
export function carries({ carries: items }: Client, item: Item): boolean {
  return items === undefined || items.has(item)
}
