// Makes requests to the address in BROKEN_ADDRESS_FILE fail with an error that only a fault in Node
// or an npm package could cause.
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
