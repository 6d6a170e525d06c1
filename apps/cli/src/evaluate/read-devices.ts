// The value of --devices: a number of devices of a kind, or a file that states the facts of a node.
import { resolve } from 'node:path';
import { imagineNode, type NodeFacts, parseNodeFacts } from '@assay/pipeline';
import { readConfigFile } from '../config/config-file.ts';

/** Throws CONFIG_VALUE for a kind or a size that is not known, and what a configuration file throws for a file. */
export function readDevices(text: string, cwd: string): NodeFacts {
  if (!/\.json$/i.test(text)) return imagineNode(text);
  const file = readConfigFile(resolve(cwd, text), cwd);
  return parseNodeFacts(file.values, file);
}
