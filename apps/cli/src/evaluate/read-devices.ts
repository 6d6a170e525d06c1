// The value of --devices: a number of devices of a kind, or a file that states the facts of a node.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { AssayError } from '@assay/domain';
import { imagineNode, type NodeFacts, parseNodeFacts } from '@assay/pipeline';

/** Throws CONFIG_VALUE for a kind that is not known and for a file that cannot be read. */
export function readDevices(text: string, cwd: string): NodeFacts {
  if (!/\.json$/i.test(text)) return imagineNode(text);
  try {
    return parseNodeFacts(JSON.parse(readFileSync(resolve(cwd, text), 'utf8')), text);
  } catch (thrown) {
    if (thrown instanceof AssayError) throw thrown;
    const problem = (thrown as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no such file' : (thrown as Error).message;
    throw new AssayError('CONFIG_VALUE', { place: 'command line', key: '--devices', problem: `${text}: ${problem}` }, { cause: thrown });
  }
}
