/** A method with one message each way. */
export interface UnaryMethod {
  readonly kind: 'unary'
  /** Resolves to the answer with its prefix (`framed`). Rejects with an `RpcError`; anything else is `INTERNAL`. */
  readonly answer: (message: Buffer) => Promise<Buffer>
}

/** A method that answers with any number of messages, to one or to many. */
export interface StreamingMethod {
  readonly kind: 'streaming'
  /** Begins a call, and returns who is told what comes. */
  readonly open: (call: AnswerStream) => QuestionListener
}

export type Method = UnaryMethod | StreamingMethod

/** Where the answers of a streaming call go. */
export interface AnswerStream {
  /** Sends one message. Nothing is sent once the call has ended. */
  send(message: Uint8Array): void
  /** Ends the call well. */
  end(): void
  /** Ends the call with an error. */
  fail(error: Error): void
}

/** Who is told of the messages of a streaming call. What it throws ends the call. */
export interface QuestionListener {
  /** Where it resolves, nothing more is read of the call until then. */
  message(bytes: Buffer): void | Promise<void>
  /** The client has nothing more to say. */
  end(): void
  /** The call is over, however it ended. */
  close(): void
}

/** The methods that are served, by their paths: `/package.Service/Method`. */
export type Methods = ReadonlyMap<string, Method>
