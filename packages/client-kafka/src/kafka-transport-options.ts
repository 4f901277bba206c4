/** The options of `kafkaTransport`. */
export interface KafkaTransportOptions {
  /** The id of the source of the messages. */
  readonly source: string
  /** Bootstrap brokers, each `host:port`. */
  readonly brokers: readonly string[]
  /** The schema registry. `hookline schemas register` registers the schema of events there. */
  readonly registry: {
    readonly url: string
    readonly username?: string | undefined
    readonly password?: string | undefined
  }
  /** `topics.prefix` of the installation. Default `hookline`. */
  readonly topicPrefix?: string | undefined
  /** Client id in the logs and quotas of the brokers. Default `hookline-client`. */
  readonly clientId?: string | undefined
  /** TLS with PEM texts. `{}` is enough if a public CA has issued the brokers' certificates. */
  readonly tls?:
    | { readonly ca?: string | undefined; readonly cert?: string | undefined; readonly key?: string | undefined }
    | undefined
  /** SASL credentials. Without them, the connection is not authenticated. */
  readonly sasl?:
    | {
        readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'
        readonly username: string
        readonly password: string
      }
    | undefined
}
