// What stops a set-up, as two lines: what happened, what to do. Reads the cause out of a tool's log where it can.
import { readFileSync } from 'node:fs';

export class SetupError extends Error {
  /** @param {string} what first line  @param {string} remedy second line  @param {string[]} [detail] log lines worth showing */
  constructor(what, remedy, detail = []) {
    super(what);
    this.remedy = remedy;
    this.detail = detail;
  }
}

const CAUSES = [
  {
    pattern: /no space left on device|ENOSPC|disk quota exceeded|EDQUOT/i,
    what: (step) => `no space left on the disk while installing ${step}`,
    remedy: (log) => `Free some space, or set ASSAY_HOME to a folder on a larger disk, and run the same command again (log: ${log}).`,
  },
  {
    pattern: new RegExp(
      [
        'ENOTFOUND', 'ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH', 'ENOTCACHED',
        'NewConnectionError', 'ConnectTimeoutError', 'ReadTimeoutError', 'ProxyError', 'Max retries exceeded', 'Name or service not known',
        'Temporary failure in name resolution', 'Connection refused', 'SSLError', 'SELF_SIGNED_CERT', 'UNABLE_TO_GET_ISSUER_CERT',
      ].join('|'),
    ),
    what: (step) => `the package registry cannot be reached while installing ${step}`,
    remedy: (log) => `Check the network, or the proxy and index settings of npm and pip, and run the same command again (log: ${log}).`,
  },
];

/** Turns a failed tool into a SetupError; an unknown cause shows the end of its output. */
export function explainFailure({ step, logFile, offset, exit }) {
  const text = readFileSync(logFile).subarray(offset).toString('utf8');
  const cause = CAUSES.find(({ pattern }) => pattern.test(text));
  if (cause) return new SetupError(cause.what(step), cause.remedy(logFile));
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('WARNING: Location'));
  return new SetupError(
    `installing ${step} failed (${exit})`,
    `Read the log, ${logFile}, correct what it names, and run the same command again.`,
    lines.slice(-15),
  );
}
