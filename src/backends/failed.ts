import { type CallHandle, type CallSink, failedEnd } from '../contract/index.ts'
import type { Fault } from '../model/index.ts'

/** A call that never started: its `end` comes after the handle was returned, and the handle does nothing. */
export function failedCall(fault: Fault, sink: CallSink, call: string | undefined): CallHandle {
  let end = failedEnd(fault)
  queueMicrotask(() => sink.end(call === undefined ? end : { call, ...end }))
  return {
    write: () => true,
    endInput() {},
    pause() {},
    resume() {},
    stop(why) {
      end = { why }
    },
  }
}
