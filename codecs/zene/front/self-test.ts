import type { FrontLink, FrontPorts } from '../../../src/contract/index.ts'
import { type Fault, fault, type LinkEvent, oneLine, parseObject } from '../../../src/model/index.ts'
import { safeMessage } from '../errors.ts'

/** `zene self-test`: asks the gateway for its health, prints one report and exits 0 when ready, 3 when not. */
export class SelfTest implements FrontLink {
  readonly #ports: FrontPorts
  #done = false

  constructor(ports: FrontPorts) {
    this.#ports = ports
  }

  open(): void {
    const exchange = this.#ports.newId()
    const answer = { form: 'whole', framing: 'ndjson', onDisconnect: 'cancel', asks: 'never' } as const
    this.#ports.command({ exchange, type: 'query', what: 'health' }, answer)
  }

  decode(): void {}

  encode(): void {}

  encodeLink(event: LinkEvent): void {
    if (event.type !== 'command-reply') return
    const ok = parseObject(event.data ?? '')?.['ok'] === true
    const notReady = fault('agent-unavailable', 'the gateway is not ready: run turnpike check for the reasons')
    this.#print(event.fault ?? (ok ? undefined : notReady))
  }

  encodeFault(failed: Fault): void {
    this.#print(failed)
  }

  #print(failed: Fault | undefined): void {
    if (this.#done) return
    this.#done = true
    const error = failed ? safeMessage(failed) : null
    const report = {
      ok: !failed,
      status: failed ? 'FAIL' : 'PASS',
      missing_required_env: [],
      checks: [{ role: 'gateway', ok: !failed, error }],
      provider_probe_results: [],
    }
    this.#ports.send(oneLine(JSON.stringify(report)))
    if (error !== null) this.#ports.warn(error)
    this.#ports.close(failed ? 3 : 0)
  }
}
