/** The ledger of the simulated API server: compare-and-swap, with writes that fail, arrive without an answer, or are undone. */
import type { DefenderLedger, DefenderLedgerSpec } from '../api/generated/types.ts';
import { EMPTY_LEDGER } from '../defender/ledger/draft.ts';
import type { LedgerStore } from '../defender/ledger/store.ts';
import { KubeError } from '../kube/client/errors.ts';
import type { Random } from './random.ts';

export interface SimulatedLedger {
  /** As one replica sees it. */
  store(): LedgerStore;
  spec(): DefenderLedgerSpec | undefined;
  delete(): void;
  /** Keeps a backup, or puts the last one back. */
  backup(): void;
  restore(): void;
}

export function createSimulatedLedger(random: Random, faultRate: number): SimulatedLedger {
  let version = 1;
  let current: DefenderLedgerSpec | undefined = EMPTY_LEDGER;
  let saved: DefenderLedgerSpec = EMPTY_LEDGER;
  return {
    store: () => ({ read, write }),
    spec: () => current,
    delete: () => put(undefined),
    backup: () => {
      saved = current ?? saved;
    },
    restore: () => put(saved),
  };

  function put(spec: DefenderLedgerSpec | undefined): void {
    current = spec;
    version += 1;
  }

  async function read(): Promise<DefenderLedger | undefined> {
    await Promise.resolve();
    const metadata = { name: 'default', resourceVersion: String(version) };
    return (
      current && { apiVersion: 'kubenode.dev/v1alpha1', kind: 'DefenderLedger', metadata, spec: current }
    );
  }

  async function write(before: DefenderLedger | undefined, spec: DefenderLedgerSpec): Promise<void> {
    await Promise.resolve();
    const fault = random.chance(faultRate) ? random.below(2) : undefined;
    if (fault === 0) throw new KubeError('Unreachable', 'the write was lost');
    if (before === undefined ? current !== undefined : before.metadata.resourceVersion !== String(version)) {
      throw new KubeError('Conflict', 'the ledger changed');
    }
    put(spec);
    if (fault === 1) throw new KubeError('Timeout', 'the answer was lost');
  }
}
