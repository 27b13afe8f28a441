#!/usr/bin/env node
// A hostile agent without a model: `agent.mjs PROTOCOL BEHAVIOUR MARK`. It speaks the protocol as little as it can and
// misbehaves as named. MARK (a number) tells one test's processes from another's. A prompt that begins with `behave`
// is answered well, whatever the behaviour.
import { agentproc01, agentproc04 } from './agent/agentproc.mjs'
import { BEHAVIOURS, PREPARE } from './agent/behaviours.mjs'
import { qwen, qwenCode } from './agent/qwen.mjs'
import { Wire } from './agent/wire.mjs'
import { zeneOneShot, zeneStream } from './agent/zene.mjs'
import { zot } from './agent/zot.mjs'

const PROTOCOLS = {
  agentproc: agentproc01,
  'agentproc@0.4': agentproc04,
  zene: zeneOneShot,
  'zene-stream': zeneStream,
  zot,
  qwen,
  'qwen-code': qwenCode,
}

const [protocol, behaviour] = process.argv.slice(2)
const misbehave = BEHAVIOURS[behaviour]
const wire = new Wire()
PREPARE[behaviour]?.(wire)
PROTOCOLS[protocol](wire, (prompt, talk) => {
  const behaves = prompt.startsWith('behave')
  if (behaves) wire.behave()
  void (behaves ? BEHAVIOURS['answers-well'] : misbehave)(talk, wire, prompt)
})
