export { type ForwardedFate, Forwarder, MISDIRECTED_HEADER } from './forwarder.ts'
export { Passport, PROOF_HEADER } from './passport.ts'
export { type ClusterPeers, openPeers } from './peers.ts'
