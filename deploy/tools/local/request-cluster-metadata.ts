import { connect } from 'node:net'

export interface ClusterMetadata {
  readonly clusterId: string
  /** The advertised `host:port` of each broker. */
  readonly brokers: readonly string[]
}

const correlationId = 7
const clientId = 'hookline-probe'

/** Sends a Kafka Metadata request (version 4), encoded here so that no client library is needed. */
export function clusterMetadata(host: string, port: number, timeoutMs = 2_000): Promise<ClusterMetadata> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port })
    let answer = Buffer.alloc(0)
    const fail = (error: Error): void => {
      socket.destroy()
      reject(error)
    }
    socket.setTimeout(timeoutMs, () => fail(new Error(`${host}:${port} did not respond within ${timeoutMs} ms`)))
    socket.on('error', fail)
    socket.on('close', () => fail(new Error(`${host}:${port} closed the connection`)))
    socket.on('connect', () => socket.write(request()))
    socket.on('data', chunk => {
      answer = Buffer.concat([answer, chunk])
      if (answer.length < 4 || answer.length < 4 + answer.readInt32BE(0)) return
      try {
        resolve(parseAnswer(answer))
      } catch (error) {
        reject(error)
      }
      socket.destroy()
    })
  })
}

/** Length, API key 3, version 4, correlation id, client id, no topics, no topic creation. */
function request(): Buffer {
  const name = Buffer.from(clientId)
  const body = Buffer.alloc(2 + 2 + 4 + 2 + name.length + 4 + 1)
  let at = body.writeInt16BE(3, 0)
  at = body.writeInt16BE(4, at)
  at = body.writeInt32BE(correlationId, at)
  at = body.writeInt16BE(name.length, at)
  at += name.copy(body, at)
  at = body.writeInt32BE(0, at)
  body.writeInt8(0, at)
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length)
  return Buffer.concat([length, body])
}

function parseAnswer(answer: Buffer): ClusterMetadata {
  if (answer.readInt32BE(4) !== correlationId) throw new Error('the response is not from a Kafka broker')
  // Skips the length, the correlation id and the throttle time, four bytes each.
  let at = 12
  const int32 = (): number => {
    at += 4
    return answer.readInt32BE(at - 4)
  }
  const text = (): string => {
    const length = answer.readInt16BE(at)
    at += 2
    if (length < 0) return ''
    at += length
    return answer.toString('utf8', at - length, at)
  }
  const brokers = Array.from({ length: int32() }, () => {
    int32() // node id
    const address = `${text()}:${int32()}`
    text() // rack
    return address
  })
  return { clusterId: text(), brokers }
}
