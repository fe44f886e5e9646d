/** One setting: everything that is known of it stands in its one row. */
export interface Setting<Value> {
  readonly flag: `--${string}`
  readonly environment: `TIDEGATE_${string}`
  /** What stands for the value in the help. */
  readonly placeholder: string
  /** The text that is read where neither the flag nor the environment gives one. */
  readonly default: string
  /** The default in words, where the text itself would not be understood. */
  readonly defaultDoc?: string
  readonly doc: string
  /** What a value must be, in the words of the error. */
  readonly expected: string
  /** Why a text is refused that one would take for such a value. */
  readonly reason?: (text: string) => string | undefined
  /** The value of a text; undefined where it has none. */
  readonly read: (text: string) => Value | undefined
}
