// The status of a run as a person reads it at 03:00: is it stuck, on what, and what to do.
import { isResumable } from '@assay/domain';
import { formatShare } from '@assay/reports';
import type { RunStatus } from './describe-run.ts';

const MOST_SHOWN = 10;

export function renderStatus(status: RunStatus): string {
  const lines = [
    row('run', `${status.run}  ${status.model}`),
    row('state', describeState(status)),
    ...(status.ended ? [row('because', status.ended.message)] : []),
    row('directory', status.dir),
    row('started', `${status.createdAt}, ${status.epoch} ${status.epoch === 1 ? 'start' : 'starts'}; last event ${status.lastEventAt ?? 'none'}`),
    ...status.processes.map(({ name, role, pid }) => row('process', `${name === role ? role : `${name} (${role})`}  pid ${pid}`)),
    ...renderRequests(status),
    ...status.tasks.map(({ task, final, requests, scored }) => row('task', `${task}  ${final}/${requests}${scored ? ', scored' : ''}`)),
    ...renderOpen(status),
    ...status.warnings.map((warning) => row('warning', warning)),
  ];
  return `${lines.join('\n')}\n`;
}

const row = (name: string, text: string): string => `${name.padEnd(10)} ${text}`;

function describeState({ state, draining }: RunStatus): string {
  if (draining) return `${state}, draining: requests in the engines finish, nothing new starts`;
  return isResumable(state) ? `${state}: the same command resumes it` : state;
}

function renderRequests({ requests, outcomes, shards, rungsTaken }: RunStatus): string[] {
  if (requests === null) return [row('requests', 'not rendered yet')];
  const share = formatShare(requests.total === 0 ? 1 : requests.final / requests.total);
  const kinds = Object.entries(outcomes).map(([outcome, count]) => `${outcome} ${count}`).join(', ');
  return [
    row('requests', `${requests.final}/${requests.total} final (${share})${kinds ? `: ${kinds}` : ''}`),
    row('shards', `${shards.done} done, ${shards.running} running of ${shards.total} in this start; ${shards.failedAttempts} failed attempts${rungsTaken ? `, ${rungsTaken} rungs taken` : ''}`),
  ];
}

function renderOpen({ open, alive }: RunStatus): string[] {
  if (open === null || open.total === 0 || !alive) return [];
  const shown = open.running.slice(0, MOST_SHOWN).map(({ task, ordinal, repeat, worker, shard, ageSeconds, tries, outcome }) => (
    row('open', `${task} #${ordinal}${repeat ? `.${repeat}` : ''}  ${Math.round(ageSeconds)} s with ${worker} in ${shard}${tries ? `, ${tries} tries ended ${outcome}` : ''}`)
  ));
  const hidden = open.total - open.waiting - shown.length;
  return [...shown, row('open', `${hidden > 0 ? `${hidden} more with workers, ` : ''}${open.waiting} waiting`)];
}
