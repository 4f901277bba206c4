/**
 * An HTTPS endpoint in its own process, so that it responds while the process of the transport is
 * busy.
 */
import https from 'node:https'
import type { AddressInfo } from 'node:net'

const counted = { connections: 0, fullHandshakes: 0, requests: 0 }
const server = https.createServer({ ...JSON.parse(process.argv[2] ?? '{}'), keepAliveTimeout: 60_000 })
server.on('secureConnection', socket => {
  counted.connections++
  if (!socket.isSessionReused()) counted.fullHandshakes++
})
server.on('request', (request, response) => {
  counted.requests++
  request.resume().on('end', () => response.end())
})
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.on('message', () => process.send?.(counted))
process.on('disconnect', () => process.exit(0))
