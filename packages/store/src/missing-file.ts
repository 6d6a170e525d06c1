// A file that is not there, told from one that cannot be read.

/** What reading gives, or undefined where there is nothing to read: it failed with one of these codes. Any other failure stays one. */
export function readIfThere<Value>(reading: Promise<Value>, codes: readonly string[] = ['ENOENT']): Promise<Value | undefined> {
  return reading.catch((error: NodeJS.ErrnoException) => {
    if (codes.includes(error.code ?? '')) return undefined;
    throw error;
  });
}
