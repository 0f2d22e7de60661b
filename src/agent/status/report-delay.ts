/** Decides how long a report may wait for a later one that replaces it. Pure. */
import { isDeepStrictEqual } from 'node:util';
import type { MachineComponentReport, MachineStatus } from '../../api/generated/types.ts';

/** An update that ends within this time is reported once, with its end: its steps are too short to be watched. */
export const BEGUN_MS = 2000;

/**
 * The time within which a generation that only took grants away is reported. The digest of the entries tells the controllers already that
 * the report is about them. What is left is for people and tools that compare generations: facts of the host are reported more often.
 */
export const GENERATION_MS = 600_000;

/** Returns undefined when nothing is to be reported, and 0 when it is to be reported at once. */
export function reportDelayMs(
  written: Partial<MachineStatus> | undefined,
  next: Partial<MachineStatus>,
  hasGrants: boolean,
): number | undefined {
  if (isDeepStrictEqual(next, written)) return undefined;
  if (!written) return 0;
  // A grant is news for the agent: the controllers settle it by the generation.
  if (isDeepStrictEqual(withoutGenerations(next), withoutGenerations(written))) {
    return hasGrants ? 0 : GENERATION_MS;
  }
  return isDeepStrictEqual(withoutProgress(next), withoutProgress(written)) && hasOnlyBegun(written, next)
    ? BEGUN_MS
    : 0;
}

function withoutGenerations({ agent, conditions, ...rest }: Partial<MachineStatus>): unknown {
  const { observedGeneration: _observed, ...others } = agent ?? {};
  const found = conditions?.map(({ observedGeneration: _generation, ...each }) => each);
  return { ...rest, agent: others, conditions: found };
}

/** The conditions that follow from the states of components. */
const PROGRESS_CONDITIONS: ReadonlySet<string> = new Set(['ComponentsReady', 'UpToDate']);

function withoutProgress({
  agent,
  components: _components,
  conditions,
  ...rest
}: Partial<MachineStatus>): unknown {
  const { observedGeneration: _observed, entriesDigest: _digest, ...others } = agent ?? {};
  const found = conditions
    ?.filter(({ type }) => !PROGRESS_CONDITIONS.has(type))
    .map(({ observedGeneration: _generation, ...each }) => each);
  return { ...rest, agent: others, conditions: found };
}

/** Tells whether components changed, and each of them was at rest and has begun to work. A step from one state of work to another one is news. */
function hasOnlyBegun(written: Partial<MachineStatus>, next: Partial<MachineStatus>): boolean {
  const before = new Map(written.components?.map((each) => [each.name, each]));
  const names = new Set(next.components?.map(({ name }) => name));
  if ([...before.keys()].some((name) => !names.has(name))) return false;
  const changed = (next.components ?? []).filter((each) => !isDeepStrictEqual(each, before.get(each.name)));
  return changed.length > 0 && changed.every((each) => isAtRest(before.get(each.name)) && hasBegun(each));
}

type ComponentState = NonNullable<MachineComponentReport['state']>;

const REST: ReadonlySet<ComponentState> = new Set(['Committed', 'Absent']);
const WORK: ReadonlySet<ComponentState> = new Set(['Fetching', 'Staged', 'Activating', 'Probation']);

/** The waits that end by themselves, when the agent has done its work. */
const OWN_WAITS: ReadonlySet<string> = new Set(['Downloading', 'ProbesPending']);

function isAtRest(report: MachineComponentReport | undefined): boolean {
  return report === undefined || (REST.has(report.state ?? 'Failed') && !report.error && !report.waiting);
}

function hasBegun({ state, waiting, error }: MachineComponentReport): boolean {
  const isOwnWait = !waiting || OWN_WAITS.has(waiting.reason ?? '');
  return state !== undefined && WORK.has(state) && isOwnWait && !error;
}
