import { ModelTurn, TurnBack } from '../../../../src/codec-kit/index.ts'
import type { BackHalf } from '../../../../src/contract/index.ts'
import { responsesBack } from '../../capabilities.ts'
import type { Options } from '../../options.ts'
import { ResponsesApi } from './api.ts'

/** A server of `POST /responses`. It is asked to keep nothing: each request has the whole conversation. */
export const back: BackHalf<Options> = {
  capabilities: responsesBack,
  memory: () => 'request',
  takesSettings: true,
  configuredModel: ({ options }) => options.model,
  open: ({ options }, ports) =>
    new TurnBack((start) => new ModelTurn(start, ports, (report) => new ResponsesApi(start, options, ports, report))),
}
