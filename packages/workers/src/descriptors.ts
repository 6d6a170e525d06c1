// Whether this process has the file descriptors that the start of a program takes. Why a start failed is told only later, when its
// error would have been taken for a missing program.
import { closeSync, openSync } from 'node:fs';
import { toAssayError } from '@assay/domain';

/** Two pipes of two ends each, and the one on which a program that cannot be run is reported. */
const NEEDED = 6;

/** Throws TOO_MANY_FILES. */
export function requireDescriptors(): void {
  const opened: number[] = [];
  try {
    while (opened.length < NEEDED) opened.push(openSync('/dev/null', 'r'));
  } catch (thrown) {
    throw toAssayError(thrown);
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}
