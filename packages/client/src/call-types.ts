/** An id. A finite number or a bigint is converted to its decimal digits. */
export type Id = string | number | bigint
/**
 * An object that `JSON.stringify` can serialise. Unlike a type with an index signature, `object`
 * also accepts interfaces and classes. A call rejects lists and functions.
 */
export type Fields = object

/** The optional fields of every call. */
export interface CommonFields {
  /**
   * Time of the event. Default: the time of the call. A number below 10^11 is Unix time in seconds,
   * a larger number is Unix time in milliseconds.
   */
  readonly timestamp?: Date | string | number | undefined
  /** Device or network data. Attributes of the user belong in `traits`. */
  readonly context?: Fields | undefined
  /**
   * Which destinations may get the message: `true` or `false` by destination name. `All` is the
   * default for destinations that are not listed.
   */
  readonly integrations?: Fields | undefined
  /** Default: a new id. Receivers treat messages with the same id as duplicates. */
  readonly messageId?: string | undefined
}

/** At least one of the two ids is required. */
export interface UserFields extends CommonFields {
  readonly userId?: Id | undefined
  readonly anonymousId?: Id | undefined
}

export interface Identify extends UserFields {
  readonly traits?: Fields | undefined
}

export interface Track extends UserFields {
  readonly event: string
  readonly properties?: Fields | undefined
}

export interface Screen extends UserFields {
  readonly name?: string | undefined
  readonly category?: string | undefined
  readonly properties?: Fields | undefined
}

export interface Page extends Screen {
  /** Alias of `properties`. */
  readonly traits?: Fields | undefined
}

export interface Group extends UserFields {
  readonly groupId: Id
  readonly traits?: Fields | undefined
}

export interface Alias extends CommonFields {
  /** The new id. */
  readonly userId: Id
  /** The id that `userId` replaces. */
  readonly previousId: Id
}
