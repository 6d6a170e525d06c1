// A Markdown table with aligned columns, which also reads well as plain text.

type Align = 'left' | 'right';

export interface Column {
  title: string;
  align: Align;
}

const RULES: Readonly<Record<Align, (width: number) => string>> = {
  left: (width) => '-'.repeat(width),
  right: (width) => `${'-'.repeat(Math.max(1, width - 1))}:`,
};

/** Every row has one cell a column. A pipe in a cell is escaped, so that it cannot end the cell. */
export function renderTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => columns.map((_, place) => (row[place] ?? '').replaceAll('|', '\\|').replaceAll('\n', ' ')));
  const widths = columns.map(({ title }, place) => Math.max(title.length, 1, ...cells.map((row) => row[place]!.length)));
  const renderLine = (line: readonly string[]) => `|${line.map((cell, place) => alignCell(cell, widths[place]!, columns[place]!.align)).join('|')}|`;
  const rule = `|${columns.map(({ align }, place) => RULES[align](widths[place]!)).join('|')}|`;
  return [renderLine(columns.map(({ title }) => title)), rule, ...cells.map(renderLine)].join('\n');
}

function alignCell(cell: string, width: number, align: Align): string {
  return align === 'left' ? cell.padEnd(width) : cell.padStart(width);
}
