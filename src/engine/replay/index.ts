export {
  type AgentListener,
  acceptedTurn,
  decode$,
  dropped,
  type Exchange,
  encode$,
  frontsOf,
  RecordedAgent,
  RecordedClient,
  type Started,
  stdioContext,
  takenBy,
} from './observables.ts'
