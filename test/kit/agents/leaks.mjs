#!/usr/bin/env node
// An AgentProc 0.1 agent whose error repeats the secrets that it was started with.
process.stdout.write(
  `AGENT_ERROR:denied for key ${process.argv.at(-1)} and ${process.env.MY_TOKEN} and ${process.env.PLAIN}\n`,
)
process.exit(1)
