/**
 * Runs backups and restore drills beside the reconciles of their Clusters: one at a time for each control plane. They end with the process,
 * with the lease and with the control plane. What they achieved is read from the driver, which records each before it begins.
 */
import type { Log } from '../../../kube/process/log.ts';
import { messageOf } from '../../../os/errors.ts';
import type { PlaneOwner, UpkeepControl, UpkeepStep } from '../drivers/driver.ts';
import { HostingError } from '../errors.ts';
import type { UpkeepRun } from '../plan/input.ts';

export interface UpkeepTask {
  readonly type: UpkeepRun['type'];
  readonly startedAt: Date;
  readonly work: (control: UpkeepControl) => Promise<void>;
  readonly log: Log;
}

export interface UpkeepRuns {
  /** Returns what runs for the control plane now. */
  find(owner: PlaneOwner): UpkeepRun | undefined;
  /** Begins the task, unless one of this control plane runs. It never rejects. */
  begin(owner: PlaneOwner, task: UpkeepTask): void;
  /** Ends what runs for the Cluster of this name, and resolves when nothing of it is left. */
  end(cluster: string): Promise<void>;
  /** Adds the Cluster to be reconciled at each step of a task. Returns how to end all of them. */
  open(add: (cluster: string) => void): () => void;
}

interface RunningUpkeep {
  readonly uid: string;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
  report: UpkeepRun;
}

const noChange: (cluster: string) => void = () => undefined;

export function createUpkeepRuns(): UpkeepRuns {
  const running = new Map<string, RunningUpkeep>();
  let changed = noChange;
  return {
    find: ({ name, uid }) => {
      const found = running.get(name);
      return found?.uid === uid ? found.report : undefined;
    },
    begin: ({ name, uid }, task) => {
      if (running.has(name)) return;
      const { type, startedAt } = task;
      const stop = new AbortController();
      const { promise: ended, resolve } = Promise.withResolvers<void>();
      const run: RunningUpkeep = { uid, stop, ended, report: { type, startedAt, step: 'Waiting' } };
      running.set(name, run);
      void carryOut(name, run, task).finally(resolve);
    },
    end: async (cluster) => {
      const found = running.get(cluster);
      found?.stop.abort();
      await found?.ended;
    },
    open: (add) => {
      changed = add;
      return () => {
        changed = noChange;
        for (const { stop } of running.values()) stop.abort();
      };
    },
  };

  async function carryOut(name: string, run: RunningUpkeep, { work, log }: UpkeepTask): Promise<void> {
    const { signal } = run.stop;
    const onStep = (step: UpkeepStep): void => {
      if (run.report.step === step) return;
      run.report = { ...run.report, step };
      changed(name);
    };
    const isPostponed = await work({ signal, onStep }).then(
      () => false,
      (error: unknown) => logFailure(error, run, log),
    );
    running.delete(name);
    // Nothing is recorded of a drill that is postponed: it would be due again at once.
    if (!isPostponed) changed(name);
  }
}

/** A failure is recorded, and reported by a condition. Returns whether the task is postponed. */
function logFailure(error: unknown, { stop, report: { type: act } }: RunningUpkeep, log: Log): boolean {
  if (stop.signal.aborted) return false;
  log.warn('upkeep of etcd failed', { act, reason: messageOf(error) });
  return error instanceof HostingError && error.code === 'DrillPostponed';
}
