// Whatever was thrown becomes two lines for people (what happened, what to do), one JSON object for programs that asked for
// it with --json, and the exit code of the error table. Only a defect shows its stack.
import { type AssayError, redactSecrets, redactText, toAssayError } from '@assay/domain';
import { escapeControls } from './printable.ts';
import type { Surroundings } from './surroundings.ts';

/** `beside`: what a program gets in the same JSON object. */
export function reportError(thrown: unknown, { argv, stdout, stderr, env }: Surroundings, beside: Readonly<Record<string, unknown>> = {}): number {
  const error = toAssayError(thrown);
  stderr.write(`assay: ${escapeControls(redactText(error.message))}\n${escapeControls(redactText(error.remedy))}\n`);
  const showsStack = error.kind === 'bug' || isSet(env['ASSAY_DEBUG']);
  if (showsStack) stderr.write(`${describeStack(error)}\n`);
  if (argv.includes('--json')) stdout.write(`${JSON.stringify({ ...beside, error: describeError(error) })}\n`);
  return error.exitCode;
}

interface ErrorReport {
  code: string;
  kind: string;
  what: string;
  remedy: string;
  details: Record<string, string | number>;
}

function describeError(error: AssayError): ErrorReport {
  const { code, kind, message, remedy, details } = error;
  return { code, kind, what: redactText(message), remedy: redactText(remedy), details: redactSecrets(details) };
}

const isSet = (value: string | undefined): boolean => value !== undefined && value !== '' && value !== '0';

function describeStack(error: AssayError): string {
  const cause = error.cause instanceof Error ? error.cause : error;
  return redactText(cause.stack ?? String(cause));
}
