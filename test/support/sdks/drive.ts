import { type Driver, drivers } from './drivers.ts'

/*
 * An SDK in a process of its own, as it is without a test around it: node drive.ts NAME URL WRITE_KEY. Prints the calls that
 * it made, as JSON.
 */
const [name = '', url = '', writeKey = ''] = process.argv.slice(2)
const drive = drivers[name] as Driver
try {
  console.log(JSON.stringify(await drive({ url, writeKey })))
} catch (error) {
  console.error(error)
  process.exitCode = 1
}
// Some keep timers or connections.
process.exit()
