/**
 * What has to happen so that the processes of a fleet are the wanted ones. Pure: it is given what was found, and
 * says what to do and why. Carrying it out twice is harmless, so a run that was killed is simply run again.
 */

/** One process as it was found. */
export interface Found {
  readonly pid: number;
  /** Larger is younger. */
  readonly startTicks: string;
  readonly command: readonly string[];
}

/** One process as it should be, with everything found that carries its mark. */
export interface Slot {
  readonly id: string;
  readonly command: readonly string[];
  readonly found: readonly Found[];
}

export type Entry = Start | Adopt | Stop;

interface Start {
  readonly act: 'start';
  readonly id: string;
  readonly because: string;
}

interface Adopt {
  readonly act: 'adopt';
  readonly id: string;
  readonly pid: number;
  readonly because: string;
}

export interface Stop {
  readonly act: 'stop';
  readonly id: string;
  readonly pid: number;
  readonly because: string;
}

/** Processes that carry a file of this fleet in their command line, and have no place in it. */
export interface Stray {
  readonly pid: number;
  readonly program: string;
}

/** All stops come first: a port, a folder or a lock is free before somebody else asks for it. */
export function planProcesses(slots: readonly Slot[], strays: readonly Stray[]): readonly Entry[] {
  const perSlot = slots.map(planSlot);
  const stops = perSlot.flatMap((entries) => entries.filter(({ act }) => act === 'stop'));
  const others = perSlot.flatMap((entries) => entries.filter(({ act }) => act !== 'stop'));
  const lost = strays.map(({ pid, program }): Entry => {
    return { act: 'stop', id: program, pid, because: 'it belongs to this fleet, which does not know it' };
  });
  return [...lost, ...stops, ...others];
}

function planSlot({ id, command, found }: Slot): Entry[] {
  // The oldest of several holds the port and the data; the others only wait for it to go.
  const [first, ...others] = found.toSorted(byAge);
  if (!first) return [{ act: 'start', id, because: 'it does not run' }];
  const surplus = others.map(({ pid }): Entry => ({ act: 'stop', id, pid, because: 'it runs twice' }));
  const change = changeOf(first.command, command);
  if (change === undefined) {
    return [{ act: 'adopt', id, pid: first.pid, because: 'it runs already' }, ...surplus];
  }
  return [
    { act: 'stop', id, pid: first.pid, because: change },
    ...surplus,
    { act: 'start', id, because: change },
  ];
}

/** Why a process with this command line is not the wanted one; undefined when it is. */
function changeOf(present: readonly string[], wanted: readonly string[]): string | undefined {
  if (present[0] !== wanted[0]) return `it runs ${present[0]}, wanted is ${wanted[0]}`;
  const added = wanted.filter((argument) => !present.includes(argument));
  const gone = present.filter((argument) => !wanted.includes(argument));
  if (added.length + gone.length === 0) return undefined;
  return `its settings changed: ${[...gone.map((text) => `no ${text}`), ...added].join(', ')}`;
}

function byAge(a: Found, b: Found): number {
  const older = BigInt(a.startTicks) - BigInt(b.startTicks);
  if (older !== 0n) return older < 0n ? -1 : 1;
  return a.pid - b.pid;
}

/** Whoever needs another process ends before it. */
const STOP_ORDER = ['kube-scheduler', 'kube-controller-manager', 'kube-apiserver', 'etcd'];

/** The stages of a shutdown: all of one stage may end together. */
export function planStop(running: readonly Stray[]): readonly (readonly Stop[])[] {
  const because = 'the fleet goes down';
  return STOP_ORDER.map((program) => {
    const ending = running.filter((stray) => stray.program === program);
    return ending.map(({ pid }): Stop => ({ act: 'stop', id: program, pid, because }));
  }).filter((stage) => stage.length > 0);
}
