// Makes requests fail that go to the address in the file BROKEN_ADDRESS_FILE, for example
// `127.0.0.1:4711`. Without this file, no request fails. A service loads this preload script before
// its own program. The error has a code that no fault of a network or endpoint has: only a fault in
// Node or in an npm package could cause it.
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
