// stdout is data: a reader that leaves early (`assay results RUN | head -1`) ends the command without a word. stderr is for
// people: a run goes on, or comes to its end in order, when nobody reads it any more, or the file that it goes to has no more
// room. A terminal that was closed is no reader who left: its SIGHUP says what becomes of the command.
import { EXIT_CODES } from '@assay/domain';

const BROKEN_PIPE_EXIT_CODE = 141; // 128 + SIGPIPE, as a shell reports it

/** What writing to a terminal fails with once it is closed. */
const CLOSED_TERMINAL = 'EIO';
const NO_SPACE = 'ENOSPC';
/** What is written for people may get lost. */
const UNREAD: ReadonlySet<string | undefined> = new Set(['EPIPE', CLOSED_TERMINAL, NO_SPACE]);

interface Output {
  on(event: 'error', listener: (error: NodeJS.ErrnoException) => void): unknown;
}

interface Outputs {
  stdout: Output;
  stderr: Output & { write(text: string): unknown };
  exit(code: number): void;
}

export function guardOutput({ stdout, stderr, exit }: Outputs): void {
  stderr.on('error', (error) => {
    if (!UNREAD.has(error.code)) throw error;
  });
  stdout.on('error', (error) => {
    if (error.code === CLOSED_TERMINAL) return;
    if (error.code === NO_SPACE) {
      stderr.write('assay: no space left where stdout goes\nFree some, or send it elsewhere; `assay results` shows the scores of a run that is complete.\n');
      return exit(EXIT_CODES.environment);
    }
    if (error.code !== 'EPIPE') throw error;
    exit(BROKEN_PIPE_EXIT_CODE);
  });
}
