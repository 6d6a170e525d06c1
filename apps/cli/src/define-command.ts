// What a command's file exports: its arguments and action, added to a command of commander's.
import type { Command } from 'commander';
import type { Surroundings } from './surroundings.ts';

/** The action gives its exit code to `finish`. */
export type DefineCommand = (command: Command, around: Surroundings, finish: (exitCode: number) => void) => void;
