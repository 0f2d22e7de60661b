/** Stores what the supervisor of a sandbox knows of a unit. It is on disk, so that the next agent adopts what runs. */
import { rm } from 'node:fs/promises';
import { writeFileAtomic } from '../../../os/files.ts';
import type { ProcessIdentity } from '../../../os/process/identity.ts';
import { createParsedFile } from '../disk/parsed-file.ts';
import type { UnitStatus } from '../port.ts';
import type { SandboxFolders } from './folders.ts';

export interface UnitState {
  /** The intent of the agent. Running: the unit was started by the agent and not stopped since, whatever became of the process. */
  readonly intent: 'Running' | 'Stopped';
  readonly process?: UnitMain;
  /** The digest of the script that is about to start, for an agent that finds its process without a record of it. */
  readonly scriptDigest?: string;
  /** The outcome, which is set when the run has ended for good. */
  readonly outcome?: 'Succeeded' | 'Failed';
  readonly restarts: number;
  /** The exit code or signal of the last run. */
  readonly result?: string;
}

export interface UnitMain extends ProcessIdentity {
  readonly startedAt: string;
  /** The digest of a script itself, read before the start. /proc names the interpreter only. */
  readonly scriptDigest?: string;
}

export const NOT_STARTED: UnitState = { intent: 'Stopped', restarts: 0 };

export interface UnitStates {
  read(unit: string): Promise<UnitState>;
  write(unit: string, state: UnitState): Promise<void>;
  remove(unit: string): Promise<void>;
}

export function createUnitStates(folders: SandboxFolders): UnitStates {
  const readers = new Map<string, () => Promise<UnitState>>();
  return {
    async read(unit) {
      const reader = readers.get(unit) ?? createParsedFile(folders.stateFile(unit), parseState);
      readers.set(unit, reader);
      return await reader();
    },
    async write(unit, state) {
      await writeFileAtomic(folders.stateFile(unit), JSON.stringify(state));
      readers.delete(unit);
    },
    async remove(unit) {
      await rm(folders.stateFile(unit), { force: true });
      readers.delete(unit);
    },
  };
}

function parseState(text: string): UnitState {
  return text === '' ? NOT_STARTED : (JSON.parse(text) as UnitState);
}

/** Returns the state as systemd would call it. */
export function activeState(
  type: 'Service' | 'OneShot',
  { intent, outcome }: UnitState,
  isAlive: boolean,
): UnitStatus['active'] {
  if (isAlive) return intent === 'Stopped' ? 'Deactivating' : RUNNING[type];
  if (outcome === 'Failed') return 'Failed';
  if (intent === 'Stopped') return 'Inactive';
  if (outcome === 'Succeeded') return type === 'OneShot' ? 'Active' : 'Inactive';
  // It ended, and the supervisor has yet to start it again.
  return 'Activating';
}

const RUNNING = { Service: 'Active', OneShot: 'Activating' } as const;

export interface RestartInput {
  readonly policy: 'Always' | 'OnFailure' | 'Never';
  readonly maxPerMinute: number;
  /** The result of the run. Undefined: it ended while no agent ran. */
  readonly result: string | undefined;
  /** The number of restarts in the last minute. */
  readonly recentRestarts: number;
}

/** Decides what the supervisor does about a service that ended without being stopped. */
export function afterExit({
  policy,
  maxPerMinute,
  result,
  recentRestarts,
}: RestartInput): 'Restart' | 'Succeeded' | 'Failed' {
  const succeeded = result === 'exit code 0';
  if (policy === 'Never' || (policy === 'OnFailure' && succeeded)) return succeeded ? 'Succeeded' : 'Failed';
  return recentRestarts >= maxPerMinute ? 'Failed' : 'Restart';
}
