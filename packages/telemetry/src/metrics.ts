// The run's metrics in Prometheus' form: every series of the catalogue is there from the start, and no other can be made.
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { BUILD_INFO, METRICS, type MetricEntry, type MetricName } from './catalogue.ts';

type Table = typeof METRICS;
type NamesOf<Type extends MetricEntry['type']> = { [Name in MetricName]: Table[Name]['type'] extends Type ? Name : never }[MetricName];
type LabelsOf<Name extends MetricName> = Table[Name] extends { labels: infer Labels }
  ? { [Label in keyof Labels]: Labels[Label] extends readonly (infer Value)[] ? Value : never }
  : undefined;
/** Metrics without labels take no third argument. */
type LabelArguments<Name extends MetricName> = LabelsOf<Name> extends undefined ? [] : [labels: LabelsOf<Name>];
type OnlyLabel<Name extends MetricName> = LabelsOf<Name> extends undefined ? never : keyof LabelsOf<Name>;
/** Gauges with one label of which exactly one value holds. */
type StateName = 'assay_run_state' | 'assay_probe_verdict';

interface Build {
  version: string;
  commit: string | null;
}

export class Metrics {
  readonly registry = new Registry();
  readonly #gauges = new Map<string, Gauge>();
  readonly #counters = new Map<string, Counter>();
  readonly #histograms = new Map<string, Histogram>();
  /** Of counters whose totals something else keeps. */
  readonly #totals = new Map<string, number>();
  readonly #updates = new Set<() => void>();

  constructor({ version, commit }: Build) {
    const info = new Gauge({ name: BUILD_INFO.name, help: BUILD_INFO.help, labelNames: BUILD_INFO.labels, registers: [this.registry] });
    info.set({ version, commit: commit ?? 'unknown' }, 1);
    for (const [name, entry] of Object.entries(METRICS)) this.#create(name, entry);
  }

  set<Name extends NamesOf<'gauge'>>(name: Name, value: number, ...[labels]: LabelArguments<Name>): void {
    (this.#gauges.get(name) as Gauge).set(checkLabels(name, labels), value);
  }

  /** Sets the named state to 1 and the others to 0. */
  setState<Name extends StateName>(name: Name, state: LabelsOf<Name>[OnlyLabel<Name>]): void {
    const [label, values] = Object.entries(METRICS[name].labels)[0] as [string, readonly string[]];
    checkLabels(name, { [label]: state });
    for (const value of values) (this.#gauges.get(name) as Gauge).set({ [label]: value }, Number(value === state));
  }

  add<Name extends NamesOf<'counter'>>(name: Name, value: number, ...[labels]: LabelArguments<Name>): void {
    (this.#counters.get(name) as Counter).inc(checkLabels(name, labels), value);
  }

  /** Brings a counter up to a total that something else keeps, such as a ledger. A counter takes either this or `add`. */
  raise<Name extends NamesOf<'counter'>>(name: Name, total: number, ...labels: LabelArguments<Name>): void {
    const key = JSON.stringify([name, ...labels]);
    const before = this.#totals.get(key) ?? 0;
    if (total <= before) return;
    this.#totals.set(key, total);
    this.add(name, total - before, ...labels);
  }

  observe(name: NamesOf<'histogram'>, value: number): void {
    (this.#histograms.get(name) as Histogram).observe(value);
  }

  /** `update` sets what would be stale otherwise; it is called before every page. */
  onRender(update: () => void): void {
    this.#updates.add(update);
  }

  /** The page, in the text format. */
  render(): Promise<string> {
    for (const update of this.#updates) update();
    return this.registry.metrics();
  }

  #create(name: string, entry: MetricEntry): void {
    const options = { name, help: entry.help, labelNames: Object.keys(entry.labels ?? {}), registers: [this.registry] };
    if (entry.type === 'histogram') this.#histograms.set(name, new Histogram({ ...options, buckets: [...(entry.buckets ?? [])] }));
    else if (entry.type === 'counter') this.#counters.set(name, initialize(new Counter(options), entry, (counter, labels) => counter.inc(labels, 0)));
    else this.#gauges.set(name, initialize(new Gauge(options), entry, (gauge, labels) => gauge.set(labels, entry.initially ?? 0)));
  }
}

function initialize<Metric>(metric: Metric, entry: MetricEntry, start: (metric: Metric, labels: Record<string, string>) => void): Metric {
  for (const labels of combineLabels(entry.labels ?? {})) start(metric, labels);
  return metric;
}

/** Every combination of the label values. */
export function combineLabels(labels: Readonly<Record<string, readonly string[]>>): Record<string, string>[] {
  return Object.entries(labels).reduce<Record<string, string>[]>(
    (combined, [label, values]) => combined.flatMap((known) => values.map((value) => ({ ...known, [label]: value }))),
    [{}],
  );
}

/** Types keep strangers out; this keeps out what came as a plain string. */
function checkLabels(name: MetricName, labels: Readonly<Record<string, unknown>> | undefined): Record<string, string> {
  const allowed: MetricEntry['labels'] = (METRICS[name] as MetricEntry).labels ?? {};
  for (const [label, value] of Object.entries(labels ?? {})) {
    if (!allowed[label]?.includes(String(value))) throw new TypeError(`${name} has no ${label}="${String(value)}"`);
  }
  return (labels ?? {}) as Record<string, string>;
}
