// What set-up is for: `assay run` on the demo's tasks and model. It goes on with an unfinished demo, as any run does.
import path from 'node:path';
import { runForeground } from './foreground.mjs';
import { cloneDir } from './home.mjs';

export function runDemo({ demoModel }, args) {
  const model = `pretrained=${demoModel},dtype=bfloat16,max_model_len=4096`;
  const command = ['run', '--config', path.join('tasks', 'demo.yaml'), '--model_args', model];
  return runForeground(path.join(cloneDir, 'assay'), [...command, ...args], { cwd: cloneDir });
}
