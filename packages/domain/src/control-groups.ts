// Where a process lies in the kernel's control groups: what /proc/<pid>/cgroup says, and the folders that this means.

/** Path of a process's group by controller; version 2 has one for all, under "". */
export function parseGroupPaths(text: string): Map<string, string> {
  const lines = text.split('\n').flatMap((line) => {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    return controllers === undefined || path === undefined ? [] : controllers.split(',').map((name) => [name, path] as const);
  });
  return new Map(lines);
}

/** Folders from the mount point down to the group. In a container the path may be the host's: not all of them need be there. */
export function listGroupFolders(base: string, path = '/'): string[] {
  const parts = path.split('/').filter((part) => part !== '' && part !== '..');
  return [base, ...parts.map((_, depth) => `${base}/${parts.slice(0, depth + 1).join('/')}`)];
}
