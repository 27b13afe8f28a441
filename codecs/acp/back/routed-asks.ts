import { RPC_CODES, type RpcMessage, RpcWriter } from '../../../src/codec-kit/index.ts'
import type { MultiplexerPorts } from '../../../src/contract/index.ts'
import type { JsonText } from '../../../src/model/index.ts'
import { CANCELLED } from './asks.ts'

/** A request of the agent that a link is to answer. */
interface Asked {
  readonly link: number
  readonly method: string
}

/** The requests of an agent that several links share, each with the link that is to answer it. None is left without an answer. */
export class RoutedAsks {
  readonly #ports: MultiplexerPorts
  readonly #writer = new RpcWriter()
  readonly #open = new Map<JsonText, Asked>()

  constructor(ports: MultiplexerPorts) {
    this.#ports = ports
  }

  /** Takes a request for the link of its session; without one it is refused, as is one whose id is in use. */
  ask({ id, method }: RpcMessage & { kind: 'request' }, line: string, link: number | undefined): void {
    if (this.#open.has(id)) {
      this.#ports.toProcess(this.#writer.error(id, RPC_CODES.invalidRequest, 'This id is in use.'))
    } else if (link === undefined) this.#refuse(id, method)
    else {
      this.#open.set(id, { link, method })
      this.#ports.toLink(link, line)
    }
  }

  /** The link that is to answer the request of this id. */
  linkOf(id: JsonText | undefined): number | undefined {
    return id === undefined ? undefined : this.#open.get(id)?.link
  }

  /** Passes the answer of a link; one to a question of another link is none. */
  answer(link: number, id: JsonText, line: string): void {
    if (this.linkOf(id) !== link) return
    this.#open.delete(id)
    this.#ports.toProcess(line)
  }

  /** Answers what a link leaves open. */
  leave(link: number): void {
    for (const [id, { link: of, method }] of [...this.#open]) {
      if (of !== link) continue
      this.#open.delete(id)
      this.#refuse(id, method)
    }
  }

  #refuse(id: JsonText, method: string): void {
    const text = `Nobody takes this request: ${method}`
    const isPermission = method === 'session/request_permission'
    this.#ports.toProcess(
      isPermission ? this.#writer.result(id, CANCELLED) : this.#writer.error(id, RPC_CODES.methodNotFound, text),
    )
  }
}
