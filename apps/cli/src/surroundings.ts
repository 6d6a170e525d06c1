// What a command is given of the outside: nothing below reads process.argv, process.cwd() or process.env by itself.

export interface TextSink {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
}

export interface Surroundings {
  argv: readonly string[];
  cwd: string;
  env: Record<string, string | undefined>;
  stdout: TextSink;
  stderr: TextSink;
}
