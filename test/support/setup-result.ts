// What a set-up leaves in ASSAY_HOME.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

interface HomeEnvironment {
  schema: number;
  python: string;
  demoModel: string;
  redisServer: string;
}

export function readHome(assayHome: string): HomeEnvironment {
  return JSON.parse(readFileSync(path.join(assayHome, 'environment.json'), 'utf8'));
}

export function hasDemoModelFiles(dir: string): boolean {
  return ['config.json', 'model.safetensors', 'tokenizer.json'].every((name) => existsSync(path.join(dir, name)));
}
