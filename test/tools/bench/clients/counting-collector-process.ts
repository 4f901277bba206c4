import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const answer = '{"success":true}'
const headers = { 'Content-Type': 'application/json', 'Content-Length': answer.length }
let count = 0

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    count += (JSON.parse(Buffer.concat(chunks).toString()) as { batch: unknown[] }).batch.length
    response.writeHead(200, headers).end(answer)
  })
})
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.on('message', () => {
  process.send?.(count)
  count = 0
})
process.on('disconnect', () => process.exit())
