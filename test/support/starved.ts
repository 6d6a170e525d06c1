// A process of ours that has hardly any file descriptors left.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

interface Starved {
  /** What is imported from which module, before the descriptors are taken: "{ name }" by its path. */
  imports: Readonly<Record<string, string>>;
  /** Descriptors that are left to `act`. */
  left: number;
  /** An expression; it is awaited. */
  act: string;
}

/** The code of the error that `act` ends with; "none" where it does not. */
export async function findErrorWhenStarved({ imports, left, act }: Starved): Promise<string> {
  const program = [
    'import { closeSync, openSync, writeSync } from "node:fs";',
    ...Object.entries(imports).map(([path, names]) => `import ${names} from ${JSON.stringify(path)};`),
    'const taken = [];',
    'try { for (;;) taken.push(openSync("/dev/null", "r")); } catch {}',
    `for (let count = 0; count < ${left}; count += 1) closeSync(taken.pop());`,
    'let code = "none";',
    `try { await (${act}); } catch (thrown) { code = thrown.code; }`,
    'writeSync(1, code);',
    'process.exit(0);',
  ].join('\n');
  // Node raises a soft limit to the hard one, so both are set, as a plain `ulimit -n` does.
  const { stdout } = await promisify(execFile)('sh', ['-c', 'ulimit -n 64; exec "$0" --input-type=module -e "$1"', process.execPath, program]);
  return stdout;
}
