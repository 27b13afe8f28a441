#!/usr/bin/env node
// An AgentProc 0.1 agent that never stops talking when it is told to "flood", and says more than a pipe holds otherwise.
if (process.env.AGENT_MESSAGE === 'flood') flood()
else process.stdout.write('word '.repeat(40_000))

function flood() {
  while (process.stdout.write(`${'a'.repeat(65_535)}\n`));
  process.stdout.once('drain', flood)
}
