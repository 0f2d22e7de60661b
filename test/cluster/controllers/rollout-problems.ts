/** Judges a whole rollout by what watches delivered. */
import {
  isGrantedFor,
  type MachineStart,
  type ObservedBatch,
  type RolloutHistory,
} from './rollout-history.ts';

export interface JudgedRollout {
  /** Machines that were started, in order. */
  readonly machines: readonly string[];
  /** Of the batches, in order. */
  readonly sizes: readonly number[];
  /** Most machines at a time whose new version was not committed. */
  readonly mostOutOfService: number;
  /** What must never happen, one sentence each. */
  readonly problems: readonly string[];
}

export async function judgeRollout(
  history: RolloutHistory,
  set: string,
  revision: string,
): Promise<JudgedRollout> {
  const starts = (await history.starts(set)).filter((start) => start.revision === revision);
  const batches = await history.batches(set, revision);
  const since = Math.min(...batches.map(({ version }) => version));
  return {
    machines: starts.map(({ machine }) => machine),
    sizes: batches.map(({ size }) => size),
    mostOutOfService: await history.mostOutOfService(set, since),
    problems: [
      ...starts.flatMap((start, index) => repeated(start, starts.slice(0, index))),
      ...batches.flatMap(({ index }, position) =>
        index === position ? [] : [`batch ${index} was opened as number ${position}`],
      ),
      ...(await grantProblems(history, set, starts)),
      ...(await batchProblems(history, starts, batches)),
    ],
  };
}

function repeated({ machine }: MachineStart, before: readonly MachineStart[]): readonly string[] {
  return before.some((each) => each.machine === machine) ? [`${machine} was started twice`] : [];
}

async function grantProblems(
  history: RolloutHistory,
  set: string,
  starts: readonly MachineStart[],
): Promise<readonly string[]> {
  const grants = await history.grants(set, starts[0]?.revision ?? '');
  return starts.flatMap((start) => {
    const { machine, entry, version } = start;
    const [issued, ...more] = grants.get(machine) ?? [];
    const isIssued = issued !== undefined && issued.version < version && issued.grant.id === entry.grant?.id;
    return [
      ...(isGrantedFor(start) ? [] : [`${machine} was started without a grant for its entry`]),
      ...(isIssued ? [] : [`the grant of ${machine} was not in the ledger before its start`]),
      ...(more.length === 0 ? [] : [`${machine} had ${more.length} more grants`]),
    ];
  });
}

async function batchProblems(
  history: RolloutHistory,
  starts: readonly MachineStart[],
  batches: readonly ObservedBatch[],
): Promise<readonly string[]> {
  const found = await Promise.all(
    batches.map(async (batch, position) => {
      const own = starts.filter((start) => start.batch === batch.index);
      const next = batches[position + 1];
      return [
        ...own.flatMap(({ machine, version }) =>
          version > batch.version ? [] : [`${machine} was started before batch ${batch.index} was opened`],
        ),
        ...(own.length === batch.size ? [] : [`batch ${batch.index} of ${batch.size} had ${own.length}`]),
        ...(next ? await gateProblems(history, own, { batch, next }) : []),
      ];
    }),
  );
  return found.flat();
}

async function gateProblems(
  history: RolloutHistory,
  own: readonly MachineStart[],
  { batch, next }: { readonly batch: ObservedBatch; readonly next: ObservedBatch },
): Promise<readonly string[]> {
  const committed = await Promise.all(own.map((start) => history.committedAt(start)));
  const late = own.filter((_, index) => (committed[index] ?? Infinity) > next.version);
  const hasSoaked = Date.parse(next.startedAt) >= Date.parse(batch.soakUntil ?? '');
  return [
    ...late.map(({ machine }) => `batch ${next.index} was opened before ${machine} was committed`),
    ...(hasSoaked ? [] : [`batch ${next.index} was opened before batch ${batch.index} had soaked`]),
  ];
}
