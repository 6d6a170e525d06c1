#!/usr/bin/env node
// The `assay` command: finds the subcommand, runs it, turns whatever was thrown into two lines and an exit code.
import { runCommand } from './run-command.ts';
import { guardOutput } from './output.ts';
import { keepFromHangups } from './signals.ts';

keepFromHangups(process, process.env);
guardOutput({ stdout: process.stdout, stderr: process.stderr, exit: (code) => process.exit(code) });
process.exitCode = await runCommand({ argv: process.argv.slice(2), cwd: process.cwd(), env: process.env, stdout: process.stdout, stderr: process.stderr });
