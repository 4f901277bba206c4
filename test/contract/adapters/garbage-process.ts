/** Keeps as much alive as a busy dispatcher does, and replaces it again and again. Argument: percent of garbage, or none. */
import { letGarbageGrow } from '../../../src/adapters/heap.ts'

const percent = process.argv[2]
if (percent !== undefined) letGarbageGrow(Number(percent))

const alive: number[][] = []
const count = 200_000
for (let made = 0; made < 100 * count; made++) alive[made % count] = [made, made, made, made, made, made]
