import * as v from 'valibot'
import { RPC_CODES, type RpcMessage } from '../../../src/codec-kit/index.ts'
import type { BackPorts, FileRequest, FileResult } from '../../../src/contract/index.ts'
import { quote } from '../../../src/model/index.ts'
import { ACP_CODES } from '../errors.ts'
import { ReadFile, WriteFile } from '../schema.ts'
import type { Connection } from './connection.ts'
import type { Place } from './place.ts'

/** The files that agents have their client read and write (File System), as the agent's `client` allows it. */
export class Files {
  readonly #connection: Connection
  readonly #ports: BackPorts

  constructor(connection: Connection, ports: BackPorts) {
    this.#connection = connection
    this.#ports = ports
  }

  /** Takes a request for a file of the session's folders; false for any other method, and for one that is not allowed. */
  request({ id, method, params }: RpcMessage & { kind: 'request' }, place: Place | undefined): boolean {
    const { file } = this.#ports
    if (!file || !place || !this.#connection.files.includes(method)) return false
    const asked = requestOf(method, params, [place.cwd, ...place.folders])
    const { writer } = this.#connection
    if (!asked) {
      const text = 'Invalid params: a path is expected, and the content of a file to write.'
      this.#connection.send(writer.error(id, RPC_CODES.invalidParams, text))
      return true
    }
    file(asked, (result) => {
      if ('failure' in result) {
        const { code, text } = FAILURES[result.failure]
        this.#connection.send(writer.error(id, code, `${asked.path} ${text}`))
      } else
        this.#connection.send(writer.result(id, asked.kind === 'read' ? `{"content":${quote(result.text)}}` : '{}'))
    })
    return true
  }
}

const READ = 'fs/read_text_file'

function requestOf(method: string, params: unknown, roots: readonly string[]): FileRequest | undefined {
  if (method !== READ) {
    const { success, output } = v.safeParse(WriteFile, params)
    return success ? { kind: 'write', path: output.path, roots, text: output.content } : undefined
  }
  const { success, output } = v.safeParse(ReadFile, params)
  if (!success) return undefined
  const { path, line, limit } = output
  return { kind: 'read', path, roots, ...(line != null && { line }), ...(limit != null && { limit }) }
}

type Failure = Extract<FileResult, { failure: string }>['failure']

const FAILURES: Readonly<Record<Failure, { code: number; text: string }>> = {
  outside: { code: RPC_CODES.invalidParams, text: 'is outside of the folders of this session.' },
  missing: { code: ACP_CODES.resourceNotFound, text: 'does not exist.' },
  'no-file': { code: RPC_CODES.invalidParams, text: 'is not a regular file.' },
  'too-large': { code: RPC_CODES.invalidParams, text: 'is too large.' },
  failed: { code: RPC_CODES.internal, text: 'could not be read or written.' },
}
