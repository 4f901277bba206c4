// A preload script that makes requests to the address in the file BROKEN_ADDRESS_FILE fail, for
// example to `127.0.0.1:4711`. Without this file, no request fails. The error has a code that only
// a fault in Node or in an npm package could cause.
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
