import { type Driver, drivers } from './drivers.ts'

/*
 * Runs an SDK without the test framework. Prints the calls as JSON. Usage: node sdk-process.ts NAME
 * URL WRITE_KEY
 */
const [name = '', url = '', writeKey = ''] = process.argv.slice(2)
const drive = drivers[name] as Driver
try {
  console.log(JSON.stringify(await drive({ url, writeKey })))
} catch (error) {
  console.error(error)
  process.exitCode = 1
}
// Even if the SDK keeps timers or connections open.
process.exit()
