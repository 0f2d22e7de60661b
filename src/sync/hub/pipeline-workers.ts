/** One worker and one Lease for each Pipeline of the hub, begun and ended as the objects come and go. */
import { NAMESPACE } from '../../api/names.ts';
import type { Client } from '../../kube/client/client.ts';
import { createHeldLease } from '../../kube/leader/held-lease.ts';
import { byCode } from '../../kube/objects/digest.ts';
import type { LeaseMetrics, WatchMetrics } from '../../kube/process/metrics-runtime.ts';
import { createPipelineWorker, type PipelineWorker, type PipelineWorkerOptions } from './pipeline-worker.ts';

export interface PipelineWorkersOptions extends Omit<PipelineWorkerOptions, 'name' | 'lease'> {
  readonly client: Client;
  readonly identity: string;
  readonly metrics?: LeaseMetrics & WatchMetrics;
}

export interface PipelineWorkers {
  get(name: string): PipelineWorker | undefined;
  /** Looks at the objects again. */
  refresh(): void;
  wakeAll(): void;
  close(): Promise<void>;
}

export function createPipelineWorkers(options: PipelineWorkersOptions): PipelineWorkers {
  const workers = new Map<string, PipelineWorker>();
  const ending = new Set<Promise<void>>();

  return {
    get: (name) => workers.get(name),
    refresh,
    wakeAll() {
      for (const worker of workers.values()) worker.wake();
    },
    async close() {
      for (const name of workers.keys()) end(name);
      await Promise.all(ending);
    },
  };

  function refresh(): void {
    const names = options.hub.stores.pipelines.list().map(({ metadata }) => metadata.name);
    for (const name of workers.keys()) if (!names.includes(name)) end(name);
    for (const name of names.toSorted(byCode)) if (!workers.has(name)) workers.set(name, begin(name));
  }

  function begin(name: string): PipelineWorker {
    const lease = createHeldLease({
      ...options,
      name: `pipeline-${name}`,
      namespace: NAMESPACE,
      onChange: () => workers.get(name)?.wake(),
    });
    const worker = createPipelineWorker({ ...options, name, lease });
    return {
      ...worker,
      // The right to write goes only after the last write.
      close: async () => {
        await worker.close();
        await lease.close();
      },
    };
  }

  function end(name: string): void {
    const worker = workers.get(name);
    if (!worker) return;
    workers.delete(name);
    const done = worker.close().finally(() => ending.delete(done));
    ending.add(done);
  }
}
