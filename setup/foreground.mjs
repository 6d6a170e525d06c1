// Runs a command on this terminal. Ctrl-C reaches the child by itself; SIGTERM is passed on; its exit code becomes ours.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

export function runForeground(file, args, options) {
  const ignoreInterrupt = () => {};
  const child = spawn(file, args, { stdio: 'inherit', ...options });
  const passOn = () => child.kill('SIGTERM');
  process.on('SIGINT', ignoreInterrupt);
  process.on('SIGTERM', passOn);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      process.off('SIGINT', ignoreInterrupt);
      process.off('SIGTERM', passOn);
      resolve(signal ? 128 + constants.signals[signal] : code);
    });
  });
}
