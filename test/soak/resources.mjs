// Loaded before a gateway: at SIGUSR2 it writes into RESOURCES_FILE how many timers, sockets and the like it waits for.
import { renameSync, writeFileSync } from 'node:fs'

const file = process.env.RESOURCES_FILE
process.on('SIGUSR2', () => {
  writeFileSync(`${file}.new`, String(process.getActiveResourcesInfo().length))
  renameSync(`${file}.new`, file)
})
