/** Where Kafka is and as whom to write: the words are those of the service's configuration. */
export interface KafkaTransportOptions {
  /** The id of the source that the messages come from. */
  readonly source: string
  /** Brokers to begin with, each `host:port`. */
  readonly brokers: readonly string[]
  /** The schema registry; the schema of events is registered there by `hookline schemas register`. */
  readonly registry: {
    readonly url: string
    readonly username?: string | undefined
    readonly password?: string | undefined
  }
  /** `topics.prefix` of the installation: default `hookline`. */
  readonly topicPrefix?: string | undefined
  /** Name of this client in the broker's logs and quotas: default `hookline-client`. */
  readonly clientId?: string | undefined
  /** Speak TLS; `{}` is enough for brokers with a public certificate. Texts are PEM. */
  readonly tls?:
    | { readonly ca?: string | undefined; readonly cert?: string | undefined; readonly key?: string | undefined }
    | undefined
  /** Absent: anonymous. */
  readonly sasl?:
    | {
        readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'
        readonly username: string
        readonly password: string
      }
    | undefined
}
