#!/usr/bin/env node
// An AGENT_ program (AgentProc 0.1) without a model.
const { AGENT_MESSAGE: message = '', AGENT_STREAMING } = process.env
const text = message.replace(/^/gm, '> ').replaceAll('\r', ' ')
const body = AGENT_STREAMING === '1' ? `AGENT_PARTIAL:${JSON.stringify(text)}` : text
process.stdout.write(`AGENT_SESSION:turn-1\n`)
for (const line of body.split('\n')) process.stdout.write(`${line}\n`)
