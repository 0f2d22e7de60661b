/**
 * Plans the actions that bring the observed processes of a fleet to the desired ones. Pure. Executing a plan twice is
 * harmless, so an interrupted run is simply repeated.
 */

/** An observed process. */
export interface FoundProcess {
  readonly pid: number;
  /** Start time: larger is younger. */
  readonly startTicks: string;
  readonly command: readonly string[];
}

/** A desired process, with all observed processes that have its mark. */
export interface ProcessSlot {
  readonly id: string;
  readonly command: readonly string[];
  readonly found: readonly FoundProcess[];
}

export type ProcessAction = StartAction | AdoptAction | StopAction;

interface StartAction {
  readonly act: 'start';
  readonly id: string;
  readonly because: string;
}

interface AdoptAction {
  readonly act: 'adopt';
  readonly id: string;
  readonly pid: number;
  readonly because: string;
}

export interface StopAction {
  readonly act: 'stop';
  readonly id: string;
  readonly pid: number;
  readonly because: string;
}

/** A process with a file of this fleet in its command line that is not desired. */
export interface StrayProcess {
  readonly pid: number;
  readonly program: string;
}

/** All stops come first, so that ports, folders and locks are free before another process needs them. */
export function planProcesses(
  slots: readonly ProcessSlot[],
  strays: readonly StrayProcess[],
): readonly ProcessAction[] {
  const actionsOfSlots = slots.map(planSlot);
  const stops = actionsOfSlots.flatMap((entries) => entries.filter(({ act }) => act === 'stop'));
  const others = actionsOfSlots.flatMap((entries) => entries.filter(({ act }) => act !== 'stop'));
  const strayStops = strays.map(({ pid, program }): ProcessAction => {
    return { act: 'stop', id: program, pid, because: 'it is not in the state of this fleet' };
  });
  return [...strayStops, ...stops, ...others];
}

function planSlot({ id, command, found }: ProcessSlot): ProcessAction[] {
  // The oldest process holds the port and the data; the others wait for them.
  const [first, ...others] = found.toSorted(byAge);
  if (!first) return [{ act: 'start', id, because: 'it is not running' }];
  const surplus = others.map(
    ({ pid }): ProcessAction => ({ act: 'stop', id, pid, because: 'it is running twice' }),
  );
  const change = changeReason(first.command, command);
  if (change === undefined) {
    return [{ act: 'adopt', id, pid: first.pid, because: 'it is already running' }, ...surplus];
  }
  return [
    { act: 'stop', id, pid: first.pid, because: change },
    ...surplus,
    { act: 'start', id, because: change },
  ];
}

/** Why a process with this command line has to be replaced; undefined if it matches. */
function changeReason(observed: readonly string[], desired: readonly string[]): string | undefined {
  if (observed[0] !== desired[0]) return `expected program ${desired[0]}, got ${observed[0]}`;
  const added = desired.filter((argument) => !observed.includes(argument));
  const removed = observed.filter((argument) => !desired.includes(argument));
  if (added.length + removed.length === 0) return undefined;
  return `its settings changed: ${[...removed.map((text) => `no ${text}`), ...added].join(', ')}`;
}

function byAge(a: FoundProcess, b: FoundProcess): number {
  const older = BigInt(a.startTicks) - BigInt(b.startTicks);
  if (older !== 0n) return older < 0n ? -1 : 1;
  return a.pid - b.pid;
}

/** A process stops before those it depends on. */
const STOP_ORDER = ['kube-scheduler', 'kube-controller-manager', 'kube-apiserver', 'etcd'];

/** The steps of a shutdown: the processes of one step can stop concurrently. */
export function planStop(running: readonly StrayProcess[]): readonly (readonly StopAction[])[] {
  const because = 'the fleet is being stopped';
  return STOP_ORDER.map((program) => {
    const matching = running.filter((stray) => stray.program === program);
    return matching.map(({ pid }): StopAction => ({ act: 'stop', id: program, pid, because }));
  }).filter((step) => step.length > 0);
}
