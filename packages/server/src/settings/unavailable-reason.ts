/** Why an address cannot be had, by the code of the system. */
const UNAVAILABLE: Readonly<Record<string, string>> = {
  EADDRINUSE: 'it is in use',
  EADDRNOTAVAIL: 'this machine has no such address',
  EACCES: 'this user may not listen there; ports below 1024 are often reserved',
  ENOTFOUND: 'there is no such host',
}

/** In words, why an address to listen on cannot be had. gRPC gives the code in its message alone. */
export function unavailableReason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  const known = Object.keys(UNAVAILABLE).find((one) => one === code || message.includes(one))
  return known === undefined ? message : (UNAVAILABLE[known] as string)
}
