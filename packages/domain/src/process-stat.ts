// What Linux says of a process in /proc/<pid>/stat. Its name may hold spaces and brackets, so fields are counted from the last ")".

interface ProcessStat {
  /** It has ended and only waits for its parent to look. */
  isZombie: boolean;
  parent: number;
  group: number;
  /** Since the boot. Tells a process from a later one with its pid. */
  startTicks: number;
}

export function parseProcessStat(text: string): ProcessStat {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { isZombie: fields[0] === 'Z', parent: Number(fields[1]), group: Number(fields[2]), startTicks: Number(fields[19]) };
}
