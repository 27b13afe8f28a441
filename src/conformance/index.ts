export { type AgentTest, judgeAgent, testAgent } from './agent.ts'
export { misbehaving } from './bad-player.ts'
export { type ClientTest, judgeClient, testClient } from './client.ts'
export { type ClientSeen, type ClientStart, runClient } from './client-run.ts'
export {
  type HostileAgentTest,
  type HostileRule,
  hostileAgentRules,
  testHostileAgent,
} from './hostile-agent.ts'
export {
  type HostileClientTest,
  hostileClientRules,
  testHostileClient,
} from './hostile-client.ts'
export type { ProtocolSuites, Suite } from './kit/index.ts'
export { BEHAVIOURS, type Behaviour, MODEL } from './kit/index.ts'
export { playStdio } from './player.ts'
export { type ConformanceReport, countsOf, jsonReport, type Result, resultOf, textReport } from './report.ts'
export { type AgentOptions, runScenario, type Target } from './run-agent.ts'
export { loadSuites, testedProtocols } from './suites.ts'
