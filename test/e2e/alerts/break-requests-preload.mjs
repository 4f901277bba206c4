// Breaks requests to one address. A service loads this file before its own program. While the file
// BROKEN_ADDRESS_FILE contains an address (`127.0.0.1:4711`), requests to the address fail. The
// error is one that only a fault in Node or in an npm package causes, and not a network or an
// endpoint.
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
