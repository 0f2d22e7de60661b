/** Reads the ledger, and replaces it by compare-and-swap. The one object that is never written by server-side apply. */
import { DEFENDER_LEDGERS } from '../../api/generated/resources.ts';
import type { DefenderLedger, DefenderLedgerSpec } from '../../api/generated/types.ts';
import { GROUP, LEDGER } from '../../api/names.ts';
import type { Client } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/client/errors.ts';

export interface LedgerStore {
  /** Undefined: the object is missing. */
  read(): Promise<DefenderLedger | undefined>;
  /** Rejects with Conflict when the ledger changed since it was read, and with AlreadyExists when it was created. */
  write(before: DefenderLedger | undefined, spec: DefenderLedgerSpec): Promise<void>;
}

export interface LedgerStoreOptions {
  readonly client: Pick<Client, 'get' | 'create' | 'replace'>;
  /** Throws when the lease of this process ended. */
  readonly fence?: () => void;
}

const TIMEOUT_MS = 5000;

export function createLedgerStore({ client, fence }: LedgerStoreOptions): LedgerStore {
  const options = { timeoutMs: TIMEOUT_MS, ...(fence ? { beforeSend: fence } : {}) };
  return { read, write };

  async function read(): Promise<DefenderLedger | undefined> {
    try {
      const name = { name: LEDGER };
      return await client.get<DefenderLedger>(DEFENDER_LEDGERS, name, { timeoutMs: TIMEOUT_MS });
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return undefined;
      throw error;
    }
  }

  async function write(before: DefenderLedger | undefined, spec: DefenderLedgerSpec): Promise<void> {
    if (before) {
      await client.replace(DEFENDER_LEDGERS, { ...before, spec }, options);
      return;
    }
    const apiVersion = `${GROUP}/v1alpha1`;
    await client.create(
      DEFENDER_LEDGERS,
      { apiVersion, kind: 'DefenderLedger', metadata: { name: LEDGER }, spec },
      options,
    );
  }
}
