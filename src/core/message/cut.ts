/** Where the parts of a batch stand in its text. Whether a part is JSON is for a parser to say. */
export interface CutBatch {
  readonly kind: 'cut'
  /** Of each element of the list, from (inclusive) and to (exclusive), one after the other. */
  readonly elements: readonly number[]
  /** What stands beside the list: the text of each member that was asked for. */
  readonly members: ReadonlyMap<string, string>
}

export type CutOutcome =
  | CutBatch
  /** What holds the elements together is broken: where the list begins or ends cannot be told. */
  | { readonly kind: 'uncuttable' }
  | { readonly kind: 'too_many' }

export interface CutOptions {
  /** The name of the member that is the list. A text that is a list itself needs none. */
  readonly list: string
  /** Other members whose text is wanted. */
  readonly members: readonly string[]
  /** Elements at most. */
  readonly most: number
}

/**
 * Cuts the list of a JSON text into its elements without parsing any of them, so that one that is broken does not cost the
 * others. A text that is JSON is always cut where a parser would. In time and memory linear to the text, whatever it is.
 *
 * Brackets that do not match end the innermost pair that can end; an element whose own bracket is never closed reaches to the
 * end of the list.
 */
export function cutBatch(text: string, options: CutOptions): CutOutcome {
  return new Cutter(text, options).cut()
}

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const backslash = 0x5c
const bracket = { open: 0x5b, close: 0x5d } as const
const brace = { open: 0x7b, close: 0x7d } as const

const uncuttable = { kind: 'uncuttable' } as const
const tooMany = { kind: 'too_many' } as const

class Cutter {
  readonly #text: string
  readonly #options: CutOptions
  readonly #members = new Map<string, string>()
  #elements: number[] | undefined
  #at = 0
  /** The brackets that are open within an element, as what will close them. */
  #open = new Uint8Array(64)

  constructor(text: string, options: CutOptions) {
    this.#text = text
    this.#options = options
  }

  cut(): CutOutcome {
    this.#skipSpace()
    const failure = this.#code() === bracket.open ? this.#cutList() : this.#cutObject()
    if (failure !== undefined) return failure
    this.#skipSpace()
    if (this.#elements === undefined || this.#at < this.#text.length) return uncuttable
    return { kind: 'cut', elements: this.#elements, members: this.#members }
  }

  /** From its opening brace to behind its closing one. Of members of one name the last counts, as for a parser. */
  #cutObject(): CutOutcome | undefined {
    if (this.#code() !== brace.open) return uncuttable
    do {
      this.#step()
      const name = this.#code() === quote ? this.#name() : undefined
      if (name === undefined || this.#code() !== colon) return uncuttable
      this.#step()
      const failure = this.#cutMember(name)
      if (failure !== undefined) return failure
      this.#skipSpace()
    } while (this.#code() === comma)
    return this.#end(brace.close)
  }

  #cutMember(name: string): CutOutcome | undefined {
    const isList = name === this.#options.list
    if (isList && this.#code() === bracket.open) return this.#cutList()
    if (isList) this.#elements = undefined
    const from = this.#at
    this.#at = this.#endOfElement(brace.close)
    if (this.#options.members.includes(name)) this.#members.set(name, this.#text.slice(from, this.#at))
    return undefined
  }

  /** From its opening bracket to behind its closing one. */
  #cutList(): CutOutcome | undefined {
    this.#elements = []
    this.#step()
    if (this.#code() === bracket.close) return this.#end(bracket.close)
    for (;;) {
      const from = this.#at
      this.#at = this.#endOfElement(bracket.close)
      this.#elements.push(from, this.#at)
      if (this.#elements.length > 2 * this.#options.most) return tooMany
      if (this.#code() !== comma) return this.#end(bracket.close)
      this.#step()
    }
  }

  #end(closing: number): CutOutcome | undefined {
    if (this.#code() !== closing) return uncuttable
    this.#at += 1
    return undefined
  }

  /** The name at the position, which is left behind it; undefined when it is none. */
  #name(): string | undefined {
    const from = this.#at
    this.#at = this.#endOfString(from) + 1
    const text = this.#text.slice(from, this.#at)
    this.#skipSpace()
    if (!text.includes('\\')) return text.slice(1, -1)
    try {
      return JSON.parse(text)
    } catch {
      return undefined
    }
  }

  /** Where the comma or the closing bracket stands that ends the element which begins here; the text's end when none does. */
  #endOfElement(closing: number): number {
    let depth = 0
    let braces = 0
    let brackets = 0
    for (let at = this.#at; at < this.#text.length; at += 1) {
      const code = this.#text.charCodeAt(at)
      if (code === quote) at = this.#endOfString(at)
      else if (code === brace.open || code === bracket.open) {
        this.#push(depth, code === brace.open ? brace.close : bracket.close)
        depth += 1
        if (code === brace.open) braces += 1
        else brackets += 1
      } else if (code === brace.close || code === bracket.close) {
        const partners = code === brace.close ? braces : brackets
        // Without a partner in the element it ends the list, or is a stray one.
        if (partners === 0 && code === closing) return at
        for (let closed = 0; partners > 0 && closed !== code; ) {
          depth -= 1
          closed = this.#open[depth] as number
          if (closed === brace.close) braces -= 1
          else brackets -= 1
        }
      } else if (code === comma && depth === 0) return at
    }
    return this.#text.length
  }

  #push(depth: number, closing: number): void {
    if (depth === this.#open.length) {
      const larger = new Uint8Array(2 * depth)
      larger.set(this.#open)
      this.#open = larger
    }
    this.#open[depth] = closing
  }

  /** Where the quote stands that ends the string which begins at `from`; the text's end when none does. */
  #endOfString(from: number): number {
    for (let at = from + 1; at < this.#text.length; at += 1) {
      const code = this.#text.charCodeAt(at)
      if (code === quote) return at
      if (code === backslash) at += 1
    }
    return this.#text.length
  }

  /** NaN behind the end. */
  #code(): number {
    return this.#text.charCodeAt(this.#at)
  }

  #step(): void {
    this.#at += 1
    this.#skipSpace()
  }

  #skipSpace(): void {
    while (isSpace(this.#code())) this.#at += 1
  }
}

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
