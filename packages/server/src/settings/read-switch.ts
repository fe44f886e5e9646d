/** `true` or `false`; undefined for any other text. */
export function readSwitch(text: string): boolean | undefined {
  if (text === 'true') return true
  return text === 'false' ? false : undefined
}
