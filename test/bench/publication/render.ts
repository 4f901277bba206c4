import { publish } from './publish.ts'

/* Makes anew what shows the published results, after a change of how they are shown; measures nothing. */

await publish(new URL('../../../', import.meta.url).pathname, [], false)
