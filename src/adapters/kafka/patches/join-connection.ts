import { internal, replaceInternal } from '../internals.ts'

interface Pool {
  readonly pool: unknown[]
  getConnection(index: number): Promise<unknown>
  getConnectionByRequest(request: { readonly request: { readonly apiKey: number } }): Promise<unknown>
}

const file = 'network/connectionPool'
/** Behind the one for fetches and the one for everything else. */
const forJoins = 2

/**
 * A broker answers the requests of one connection in their order, and a JoinGroup only when every member has sent one or has been given up.
 * kafkajs sends heartbeats and commits over the same connection: they would wait for as long. Here a join has its own, opened when it is needed.
 */
export function separateJoins(): void {
  const ConnectionPool = internal<new (options: object) => Pool>(file)
  const Connection = internal<new (options: object) => unknown>('network/connection')
  const { JoinGroup } = internal<{ readonly JoinGroup: number }>('protocol/requests/apiKeys')

  replaceInternal(
    file,
    class extends ConnectionPool {
      constructor(options: object) {
        super(options)
        this.pool.push(new Connection(options))
      }

      override getConnectionByRequest(request: Parameters<Pool['getConnectionByRequest']>[0]): Promise<unknown> {
        return request.request.apiKey === JoinGroup
          ? this.getConnection(forJoins)
          : super.getConnectionByRequest(request)
      }
    },
  )
}
