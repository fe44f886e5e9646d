/**
 * Calls back for each SIGHUP, from now on; what comes before there is somebody to call is not lost.
 * Without this a SIGHUP would end the process.
 */
export function onHangup(): { tell(listener: () => void): void } {
  let isPending = false
  let tell = (): void => {
    isPending = true
  }
  process.on('SIGHUP', () => tell())
  return {
    tell: (listener) => {
      tell = listener
      if (isPending) listener()
    },
  }
}
