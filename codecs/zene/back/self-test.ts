import type { BackPorts, CallEnd } from '../../../src/contract/index.ts'
import { fault, type Id } from '../../../src/model/index.ts'

/** The arguments of `zene self-test` from those of `zene host …`: what stands before `host` may be the program itself. */
export function selfTestArgs(args: readonly string[] = []): string[] {
  const host = args.indexOf('host')
  return [...(host < 0 ? args : args.slice(0, host)), 'self-test']
}

/** A running `self-test`: its exit code is the answer (0 ready, 3 not), its report is for people. */
export class SelfTest {
  readonly #ports: BackPorts
  readonly #exchange: Id

  constructor(ports: BackPorts, exchange: Id, args: readonly string[] | undefined) {
    this.#ports = ports
    this.#exchange = exchange
    ports.open({ kind: 'process', args: selfTestArgs(args), stdin: 'end' })
  }

  end({ why, exitCode }: CallEnd): void {
    const ready = why === 'closed' && exitCode === 0
    const state = exitCode === undefined ? 'could not be run' : `ended with code ${exitCode}`
    const answer = ready
      ? { data: '{"ok":true}' }
      : { fault: fault('agent-unavailable', `The agent is not ready: its self-test ${state}.`) }
    this.#ports.emit({ turn: null, type: 'command-reply', exchange: this.#exchange, ...answer })
  }
}
