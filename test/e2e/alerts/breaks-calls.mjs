// Loaded by a service before its own program. While a file names an address (`127.0.0.1:4711`), calls there fail as neither a network nor an
// endpoint makes them fail, but a fault in Node or in one of our packages would.
import { readFileSync } from 'node:fs'
import { ClientRequest } from 'node:http'
import process from 'node:process'

const { onSocket } = ClientRequest.prototype

ClientRequest.prototype.onSocket = function (...given) {
  this.once('finish', () => {
    const { remoteAddress, remotePort } = this.socket
    if (`${remoteAddress}:${remotePort}` !== brokenAddress()) return
    this.destroy(Object.assign(new Error('there is no such error'), { code: 'ERR_UNHEARD_OF' }))
  })
  return onSocket.apply(this, given)
}

function brokenAddress() {
  try {
    return readFileSync(process.env.BROKEN_ADDRESS_FILE ?? '', 'utf8')
  } catch {
    return undefined
  }
}
