#!/usr/bin/env node
// A hostile agent without a model: `agent.mjs PROTOCOL BEHAVIOUR MARK`. It speaks the protocol as little as it can and
// misbehaves as named. MARK (a number) tells one test's processes from another's. A prompt that begins with `behave`
// is answered well, whatever the behaviour; BEHAVIOUR `as-asked` takes the first word of each prompt.
import { agentproc01, agentproc04 } from './agent/agentproc.mjs'
import { BEHAVIOURS, PREPARE } from './agent/behaviours.mjs'
import { claudeCode } from './agent/claude.mjs'
import { native } from './agent/native.mjs'
import { qwen, qwenCode } from './agent/qwen.mjs'
import { acp, codex } from './agent/rpc.mjs'
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
  native,
  acp,
  'claude-code': claudeCode,
  codex,
}

/** Each prompt begins with the behaviour that it gets: one process serves many. */
const AS_ASKED = 'as-asked'

const [protocol, behaviour] = process.argv.slice(2)
const wire = new Wire()
PREPARE[behaviour]?.(wire, protocol)
PROTOCOLS[protocol](wire, (prompt, talk) => {
  const behaves = prompt.startsWith('behave')
  if (behaves || behaviour === AS_ASKED) wire.behave()
  const asked = behaviour === AS_ASKED ? prompt.split(' ')[0] : behaviour
  void BEHAVIOURS[behaves ? 'answers-well' : asked](talk, wire, prompt)
})
