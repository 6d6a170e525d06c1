// The main job after set-up: `assay run` on the demo's tasks and model, in a fresh run directory unless one is named.
import path from 'node:path';
import { runForeground } from './foreground.mjs';
import { cloneDir } from './home.mjs';

export function runDemo({ demoModel }, args) {
  const model = `pretrained=${demoModel},dtype=bfloat16,max_model_len=4096`;
  const command = ['run', '--config', path.join('tasks', 'demo.yaml'), '--model_args', model];
  if (!args.some((arg) => /^--output[_-]path(=|$)/.test(arg))) command.push('--output_path', freshDirectory());
  return runForeground(path.join(cloneDir, 'assay'), [...command, ...args], { cwd: cloneDir });
}

function freshDirectory() {
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
  return path.join('runs', `demo-${time}`);
}
