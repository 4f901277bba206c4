/** The maximum size of a request body in bytes, including the fields around the messages. */
export const maxBatchBytes = 500_000
export const maxBatchMessages = 2_500

/** A message, serialised and measured once. */
export interface Entry {
  readonly messageId: string
  readonly text: string
  /** UTF-8 bytes of `text`. */
  readonly bytes: number
}

/** An entry with its sequence number: 1, 2, … in the order of the calls. */
export interface Queued extends Entry {
  readonly sequenceNumber: number
}

export interface BatchLimits {
  readonly messages: number
  /** UTF-8 bytes of all messages and the commas between them. */
  readonly bytes: number
}

interface Link {
  readonly entry: Queued
  next: Link | undefined
}

/** The queue of unsent messages, oldest first: a linked list with constant time per entry. */
export class MessageQueue {
  #first: Link | undefined
  #last: Link | undefined
  #length = 0
  #bytes = 0
  #lastSequenceNumber = 0

  get length(): number {
    return this.#length
  }

  /** UTF-8 bytes, without commas between the messages. */
  get bytes(): number {
    return this.#bytes
  }

  /** UTF-8 bytes of all messages as one batch, with the commas between them. */
  get joinedBytes(): number {
    return this.#bytes + Math.max(0, this.#length - 1)
  }

  /** The sequence number of the newest entry ever added; 0 before the first. */
  get lastSequenceNumber(): number {
    return this.#lastSequenceNumber
  }

  get firstSequenceNumber(): number | undefined {
    return this.#first?.entry.sequenceNumber
  }

  /** Whether the queue stays within the limits with one more message of `bytes` bytes. */
  fits(bytes: number, maxMessages: number, maxBytes: number): boolean {
    return this.#length < maxMessages && this.#bytes + bytes <= maxBytes
  }

  push({ messageId, text, bytes }: Entry): void {
    const link: Link = {
      entry: { messageId, text, bytes, sequenceNumber: ++this.#lastSequenceNumber },
      next: undefined,
    }
    if (this.#last === undefined) this.#first = link
    else this.#last.next = link
    this.#last = link
    this.#length += 1
    this.#bytes += bytes
  }

  shift(): Queued | undefined {
    const link = this.#first
    if (link === undefined) return undefined
    this.#first = link.next
    if (link.next === undefined) this.#last = undefined
    this.#length -= 1
    this.#bytes -= link.entry.bytes
    return link.entry
  }

  /**
   * Removes and returns the oldest entries within the limits. If the oldest entry alone exceeds
   * `limits.bytes`, returns only this entry.
   */
  take(limits: BatchLimits): Queued[] {
    const batch: Queued[] = []
    let bytes = -1
    while (this.#first !== undefined) {
      bytes += this.#first.entry.bytes + 1
      if (batch.length > 0 && (batch.length === limits.messages || bytes > limits.bytes)) break
      batch.push(this.shift() as Queued)
    }
    return batch
  }
}
