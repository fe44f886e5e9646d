/** The one thing the store asks of a client: send a command whose keys are known, and give back the raw reply. */
export interface Connection {
  /** True where keys are spread over nodes by their hash slot: then all keys of one command must share a slot. */
  readonly cluster: boolean
  /**
   * True where the client itself waits out TRYAGAIN, for longer than a decision may take. Keys of a slot that moves
   * are apart for a while; so the requests of one call must then have the same keys, which one node always has.
   */
  readonly keysApart?: boolean
  /**
   * `['EVALSHA', sha1, numkeys, ...keys, ...args]`, `['DEL', key]`, `['PING']`. The message of an error reply begins
   * with its code, such as `NOSCRIPT`, whatever the client makes of it.
   * @param firstKey what a client of a cluster finds the node by; undefined for a command without keys
   */
  send(command: string, args: string[], firstKey?: string): Promise<unknown>
}
