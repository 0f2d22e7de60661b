/** The programs of control planes: found, downloaded or built beside the reconciles, which do not wait for it. */
import type { ProgramPath } from '../../../../local/processes/commands.ts';
import type { Clock } from '../../../../os/clock.ts';
import { messageOf } from '../../../../os/errors.ts';
import type { PlaneReport, ProgramsProblem, ProgramVersions, RunMember } from '../driver.ts';

export interface Programs {
  readonly path: ProgramPath;
  /** The version that `kube-apiserver --version` prints: `v1.36.3`. */
  readonly version: string;
  /** The version of the etcd beside it: `v3.6.8`. */
  readonly etcdVersion: string;
}

export interface ProgramsCache {
  readonly current: () => { readonly found: readonly Programs[]; readonly report: PlaneReport['programs'] };
}

const RETRY_MS = 30_000;
const LOADING = { problem: 'they are looked for, downloaded or built now', isLoading: true } as const;

export function createProgramsCache(load: () => Promise<readonly Programs[]>, clock: Clock): ProgramsCache {
  let found: readonly Programs[] = [];
  let problem: ProgramsProblem = LOADING;
  let askAgainMs = 0;
  return {
    current() {
      if (found.length > 0) return { found, report: { versions: found.map(versionsOf) } };
      if (clock.monotonicMs() >= askAgainMs) ask();
      return { found, report: problem };
    },
  };

  function ask(): void {
    askAgainMs = Number.POSITIVE_INFINITY;
    void loadOnce();
  }

  async function loadOnce(): Promise<void> {
    try {
      found = await load();
    } catch (error) {
      problem = { problem: messageOf(error), isLoading: false };
      askAgainMs = clock.monotonicMs() + RETRY_MS;
    }
  }
}

function versionsOf({ version, etcdVersion }: Programs): ProgramVersions {
  return { kubernetes: version, etcd: etcdVersion };
}

/** Returns the programs of which that member has that version. Undefined: none have. */
export function findProgram(
  programs: readonly Programs[],
  member: RunMember,
  version: string | undefined,
): Programs | undefined {
  const isSame = (each: Programs): boolean =>
    (member === 'etcd' ? each.etcdVersion : each.version) === version;
  return programs.find(isSame);
}
