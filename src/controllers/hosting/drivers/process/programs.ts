/** The programs of control planes: found, downloaded or built beside the reconciles, which do not wait for it. */
import type { ProgramPath } from '../../../../local/processes/commands.ts';
import type { Clock } from '../../../../os/clock.ts';
import { messageOf } from '../../../../os/errors.ts';
import type { PlaneReport, ProgramsProblem } from '../driver.ts';

export interface Programs {
  readonly path: ProgramPath;
  /** The version that `kube-apiserver --version` prints: `v1.36.3`. */
  readonly version: string;
}

export interface ProgramsCache {
  readonly current: () => { readonly found?: Programs; readonly report: PlaneReport['programs'] };
}

const RETRY_MS = 30_000;
const LOADING = { problem: 'they are looked for, downloaded or built now', isLoading: true } as const;

export function createProgramsCache(load: () => Promise<Programs>, clock: Clock): ProgramsCache {
  let found: Programs | undefined;
  let problem: ProgramsProblem = LOADING;
  let askAgainMs = 0;
  return {
    current() {
      if (found) return { found, report: { version: found.version } };
      if (clock.monotonicMs() >= askAgainMs) ask();
      return { report: problem };
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
