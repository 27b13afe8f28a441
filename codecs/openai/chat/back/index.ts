import { ModelTurn, TurnBack } from '../../../../src/codec-kit/index.ts'
import type { BackHalf } from '../../../../src/contract/index.ts'
import { backCapabilities } from '../../capabilities.ts'
import type { Options } from '../../options.ts'
import { ChatApi } from './api.ts'

/** A server of `POST /chat/completions`: it keeps nothing, so each request has the whole conversation. */
export const back: BackHalf<Options> = {
  capabilities: backCapabilities,
  memory: () => 'request',
  takesSettings: true,
  configuredModel: ({ options }) => options.model,
  open: ({ options }, ports) =>
    new TurnBack((start) => new ModelTurn(start, ports, (report) => new ChatApi(start, options, ports, report))),
}
