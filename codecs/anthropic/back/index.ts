import { ModelTurn, TurnBack } from '../../../src/codec-kit/index.ts'
import type { BackHalf } from '../../../src/contract/index.ts'
import { backCapabilities } from '../capabilities.ts'
import type { Options } from '../options.ts'
import { MessagesApi } from './api.ts'

/** A server of `POST /v1/messages`: it keeps nothing, so each request has the whole conversation. */
export const back: BackHalf<Options> = {
  capabilities: backCapabilities,
  memory: () => 'request',
  takesSettings: true,
  configuredModel: ({ options }) => options.model,
  open: ({ options }, ports) =>
    new TurnBack((start) => new ModelTurn(start, ports, (report) => new MessagesApi(start, options, ports, report))),
}
