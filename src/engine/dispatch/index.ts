export { Admission } from './admission.ts'
export { Controls } from './controls.ts'
export { chooseAgent, mayUse } from './router.ts'
export { TurnCommands } from './turn-commands.ts'
