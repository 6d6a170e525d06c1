// Whatever was thrown becomes one class. What a file system says is the machine's, not a defect.
import { AssayError } from './errors.ts';

const NO_SPACE = new Set(['ENOSPC', 'EDQUOT']);
const NOT_WRITABLE: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'a part of the path is a file',
  EEXIST: 'a file is there',
  EISDIR: 'a folder is where a file belongs',
  ENOTEMPTY: 'a folder is where a file belongs',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'too many symbolic links',
  ENOENT: 'no such folder',
  ERR_INVALID_ARG_VALUE: 'the path holds a NUL character',
  EIO: 'the device reports an error',
  EFBIG: 'the file would be larger than this process may write (see `ulimit -f`)',
};
const TOO_MANY_OPEN: Readonly<Record<string, string>> = {
  EMFILE: 'this process may have no more of them (see `ulimit -n`)',
  ENFILE: 'the system may have no more of them (see fs.file-max)',
};
/** A file of ours that is not there, or an argument that is none, is a defect wherever nobody expected it. */
const ONLY_WHERE_EXPECTED = new Set(['ENOENT', 'ERR_INVALID_ARG_VALUE']);

export function toAssayError(thrown: unknown): AssayError {
  if (thrown instanceof AssayError) return thrown;
  const { code, path, syscall } = (thrown ?? {}) as Partial<NodeJS.ErrnoException>;
  const isOfFiles = syscall !== undefined && code !== undefined && !ONLY_WHERE_EXPECTED.has(code);
  const described = isOfFiles || isNoSpace(thrown) ? describeFileError(thrown, path ?? 'the disk') : undefined;
  return described ?? new AssayError('BUG', { problem: thrown instanceof Error ? thrown.message : String(thrown) }, { cause: thrown });
}

/** DISK_FULL, TOO_MANY_FILES or OUTPUT_NOT_WRITABLE for an error of the file system or of SQLite's files; undefined for any other. */
export function describeFileError(thrown: unknown, dir: string): AssayError | undefined {
  if (!(thrown instanceof Error) || thrown instanceof AssayError) return undefined;
  if (isNoSpace(thrown)) return new AssayError('DISK_FULL', { dir, free: 'nothing', needed: 'more' }, { cause: thrown });
  const tooMany = describeTooManyFiles(thrown);
  if (tooMany) return tooMany;
  const code = codeOf(thrown);
  const problem = code === 'ERR_SQLITE_ERROR' ? thrown.message : NOT_WRITABLE[code];
  return problem === undefined ? undefined : new AssayError('OUTPUT_NOT_WRITABLE', { dir, problem }, { cause: thrown });
}

/** TOO_MANY_FILES where something could not be opened or started for want of file descriptors; undefined for any other error. */
export function describeTooManyFiles(thrown: unknown): AssayError | undefined {
  const problem = thrown instanceof Error ? TOO_MANY_OPEN[codeOf(thrown)] : undefined;
  return problem === undefined ? undefined : new AssayError('TOO_MANY_FILES', { problem }, { cause: thrown });
}

const isNoSpace = (thrown: unknown): boolean => thrown instanceof Error && NO_SPACE.has(codeOf(thrown));
const codeOf = (thrown: Error): string => ('code' in thrown ? String(thrown.code) : '');
