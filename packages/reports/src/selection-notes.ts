// What is to be said of a task of which only some documents were asked: its coverage is of those, so a reader must see how many
// the task has.
interface TaskSize {
  task: string;
  /** Asked. */
  documents: number;
  documentsTotal: number;
}

interface SelectionSettings {
  limit?: number | undefined;
  samples?: Readonly<Record<string, unknown>> | undefined;
}

interface Selection {
  documents: number;
  documentsTotal: number;
  /** The setting that left out the others, as a flag. */
  by: string;
}

/** By task; those asked as a whole are left out. */
export type Selections = Readonly<Record<string, Selection>>;

export function findSelections(tasks: readonly TaskSize[], settings: SelectionSettings): Selections {
  return Object.fromEntries(tasks.filter(({ documents, documentsTotal }) => documents < documentsTotal).map(({ task, documents, documentsTotal }) => (
    [task, { documents, documentsTotal, by: nameSetting(task, settings) }]
  )));
}

function nameSetting(task: string, { limit, samples }: SelectionSettings): string {
  if (samples && Object.hasOwn(samples, task)) return '--samples';
  return limit === undefined ? 'the task itself' : `--limit ${limit}`;
}

// More lines than these would hide the table above them.
const MOST_LINES = 8;

/** Lines below the table: one a task, or one a setting where there are many tasks. */
export function warnOfSelections(selections: Selections): string[] {
  const all = Object.entries(selections);
  if (all.length <= MOST_LINES) return all.map(([task, selection]) => describe(task, selection));
  return [...new Set(all.map(([, { by }]) => by))].map((by) => {
    const chosen = all.filter(([, selection]) => selection.by === by);
    const sum = (count: 'documents' | 'documentsTotal') => chosen.reduce((total, [, selection]) => total + selection[count], 0);
    return describe(chosen.length === 1 ? chosen[0]![0] : `${chosen.length} tasks`, { documents: sum('documents'), documentsTotal: sum('documentsTotal'), by });
  });
}

function describe(what: string, { documents, documentsTotal, by }: Selection): string {
  return `! ${what}: ${documents} of ${documentsTotal} documents (${by}); not comparable with the score of a whole task`;
}
