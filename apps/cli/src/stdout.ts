// stdout is data. A reader that leaves early (`assay results RUN | head -1`) ends the command without a word.

const BROKEN_PIPE_EXIT_CODE = 141; // 128 + SIGPIPE, as a shell reports it

export function guardStdout(stdout: NodeJS.WriteStream): void {
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(BROKEN_PIPE_EXIT_CODE);
    throw error;
  });
}
