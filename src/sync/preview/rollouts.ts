/** Describes the machines that a commit would change in a cluster, as the controllers there would roll the change out. Pure. */
import { durationText } from '../../api/elapsed.ts';
import { wrapText } from '../../kube/objects/printable.ts';

/** The rollouts in one cluster. They are unknown if the machines were not read. */
export type TargetRollouts =
  | { readonly state: 'Known'; readonly sets: readonly PlannedRollout[] }
  | { readonly state: 'Unknown'; readonly because: string };

export interface PlannedRollout {
  /** Name of the MachineComponentSet. */
  readonly set: string;
  /** `kubelet-1.35.4 → kubelet-1.36.3`, a line for each component. */
  readonly changes: readonly string[];
  readonly selected: number;
  /** The first batches. */
  readonly batches: readonly (MachinesPreview & { readonly index: number })[];
  /** Counts what follows the first batches. */
  readonly more: { readonly batches: number; readonly machines: number };
  /** The new machines, and those that were away: they join outside of the batches. */
  readonly joining: MachinesPreview;
  /** The worst class of all machines. */
  readonly class: string;
  /** Machines that are drained. */
  readonly drains: number;
  /** Grants that the Defender has to give: one for each machine. */
  readonly grants: number;
  /** The reason for which the rollout would wait now. */
  readonly wait?: { readonly reason: string; readonly message: string };
  /** Why machines are left out of the batches, and how many more reasons there are. Absent: none is left out. */
  readonly holds?: {
    readonly first: readonly { readonly reason: string; readonly message: string }[];
    readonly more: number;
  };
  /** The duration of the rollout from its begin, if nothing fails or waits: when it begins depends on the stages before. */
  readonly takes?: { readonly shortestSeconds: number; readonly longestSeconds: number };
  /** The answer that the Defender would give now for the machines that would be started at once. Absent if it would not be asked. */
  readonly defender?: DefenderPreview;
}

/** The answer of the Defender. It is unknown if what the Defender decides by was not read. */
export type DefenderPreview =
  | {
      readonly state: 'Known';
      readonly granted: MachineNames;
      readonly denied: readonly DenialPreview[];
    }
  | { readonly state: 'Unknown'; readonly because: string };

/** Holds one denial, which is the same for all of these machines. */
export interface DenialPreview {
  readonly reason: string;
  readonly message: string;
  /** The time when the answer changes by itself. */
  readonly until?: string;
  readonly unblock: string;
  readonly machines: MachineNames;
}

export interface MachineNames {
  readonly count: number;
  /** The names of the first machines, in the order in which they are started. */
  readonly names: readonly string[];
}

export interface MachinesPreview extends MachineNames {
  /** The worst class of these machines. */
  readonly class: string;
}

const COLUMNS = 80;
const INDENT = 2;
const FIELD_WIDTH = 10;

/** Formats the rollouts of a cluster, indented below the name of the cluster. */
export function formatTargetRollouts(rollouts: TargetRollouts | undefined): readonly string[] {
  if (!rollouts) return [];
  if (rollouts.state === 'Unknown') return field('rollouts', `not known: ${rollouts.because}`, INDENT);
  return rollouts.sets.flatMap(rolloutLines);
}

function rolloutLines(rollout: PlannedRollout): readonly string[] {
  const { set, changes, selected, batches, more, joining, grants, drains, wait, takes } = rollout;
  const drained = drains > 0 ? `, ${drains} with a drain` : '';
  const summary =
    grants > 0
      ? `${grants} of ${selected} machines, ${rollout.class}${drained}`
      : `none of ${selected} machines`;
  return [
    ...hang(' '.repeat(INDENT), `rollout of ${set}: ${summary}`, 4),
    ...changes.flatMap((change) => field('change', change)),
    ...batches.flatMap((batch) => field(`batch ${batch.index + 1}`, machinesText(batch))),
    ...(more.batches > 0
      ? field('then', `${plural(more.batches, 'batch', 'es')} of ${more.machines} machines`)
      : []),
    ...(joining.count > 0 ? field('joining', machinesText(joining)) : []),
    ...defenderLines(rollout.defender),
    ...holdLines(rollout.holds),
    ...(wait ? field('waits', `${wait.reason}: ${wait.message}`) : []),
    ...(takes ? field('takes', takesText(takes)) : []),
  ];
}

function holdLines(holds: PlannedRollout['holds']): readonly string[] {
  if (!holds) return [];
  const more = holds.more > 0 ? field('held', `and ${holds.more} more`) : [];
  return [...holds.first.flatMap(({ reason, message }) => field('held', `${reason}: ${message}`)), ...more];
}

function takesText({ shortestSeconds, longestSeconds }: NonNullable<PlannedRollout['takes']>): string {
  const longest = `at most ${durationText(longestSeconds)}`;
  const range =
    shortestSeconds > 0 ? `${durationText(shortestSeconds)} of soaks at least, ${longest}` : longest;
  return `${range} once it begins, if nothing fails or waits`;
}

function defenderLines(defender: DefenderPreview | undefined): readonly string[] {
  if (!defender) return [];
  if (defender.state === 'Unknown') return field('defender', `not known: ${defender.because}`);
  const { granted, denied } = defender;
  return [
    ...(granted.count > 0 ? field('defender', `grants now ${namesText(granted)}`) : []),
    ...denied.flatMap(({ reason, message, until, unblock, machines }) => {
      const end = until === undefined ? '' : ` until ${until}`;
      return [
        ...field('defender', `denies${end} ${namesText(machines)}; ${reason}: ${message}`),
        ...field('unblock', unblock),
      ];
    }),
  ];
}

function machinesText({ count, class: worst, names }: MachinesPreview): string {
  return `${plural(count, 'machine', 's')}, ${worst}: ${listText({ count, names })}`;
}

function namesText(machines: MachineNames): string {
  return `${plural(machines.count, 'machine', 's')}: ${listText(machines)}`;
}

function listText({ count, names }: MachineNames): string {
  return `${names.join(', ')}${count > names.length ? ` and ${count - names.length} others` : ''}`;
}

function plural(count: number, word: string, ending: string): string {
  return `${count} ${word}${count === 1 ? '' : ending}`;
}

function field(name: string, text: string, indent = 2 * INDENT): readonly string[] {
  return hang(`${' '.repeat(indent)}${name.padEnd(FIELD_WIDTH)}`, text);
}

/** Wraps the text after its head. Further lines begin below the text. */
function hang(head: string, text: string, margin = head.length): readonly string[] {
  const lines = wrapText(text, COLUMNS - Math.max(head.length, margin));
  return lines.map((line, index) => `${index === 0 ? head : ' '.repeat(margin)}${line}`);
}
