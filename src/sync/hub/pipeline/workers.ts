/** Runs one worker, under one Lease, for each Pipeline of the hub. */
import type { Client } from '../../../kube/client/client.ts';
import { createHeldLease } from '../../../kube/leader/held-lease.ts';
import { byCode } from '../../../kube/objects/digest.ts';
import type { LeaseMetrics, WatchMetrics } from '../../../kube/process/metrics-runtime.ts';
import { sendToGitHost } from '../../report/send.ts';
import { createHostTokens } from '../../report/tokens/host-tokens.ts';
import { createWorkerSet } from '../worker-set.ts';
import { pipelineLease } from './lease.ts';
import { createPipelineWorker, type PipelineWorker, type PipelineWorkerOptions } from './worker.ts';

export interface PipelineWorkersOptions extends Omit<PipelineWorkerOptions, 'name' | 'lease' | 'tokens'> {
  readonly client: Client;
  readonly identity: string;
  readonly metrics?: LeaseMetrics & WatchMetrics;
  /** A Lease was acquired or lost. */
  readonly onLease: () => void;
}

export interface PipelineWorkers {
  get(name: string): PipelineWorker | undefined;
  /** Whether this process promotes the Pipeline. */
  isHeld(name: string): boolean;
  /** Starts and stops workers to match the Pipeline objects. */
  refresh(): void;
  requeueAll(): void;
  close(): Promise<void>;
}

export function createPipelineWorkers(options: PipelineWorkersOptions): PipelineWorkers {
  const workers = createWorkerSet(start);
  // Pipelines with the same GitHub App share its tokens.
  const tokens = createHostTokens({ ...options, send: sendToGitHost });
  return {
    get: (name) => workers.get(name),
    isHeld: (name) => workers.get(name)?.isHeld() ?? false,
    refresh() {
      const names = options.hub.stores.pipelines.list().map(({ metadata }) => metadata.name);
      workers.refresh(names.toSorted(byCode));
    },
    requeueAll() {
      for (const worker of workers.all()) worker.requeue();
    },
    async close() {
      tokens.close();
      await workers.close();
    },
  };

  function start(name: string): PipelineWorker {
    const lease = createHeldLease({
      ...options,
      ...pipelineLease(name),
      onChange() {
        worker.requeue();
        options.onLease();
      },
    });
    const worker = createPipelineWorker({ ...options, name, lease, tokens });
    return {
      ...worker,
      // The Lease is released only after the last write.
      close: async () => {
        await worker.close();
        await lease.close();
      },
    };
  }
}
