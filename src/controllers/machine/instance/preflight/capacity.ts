/**
 * Limits how often a provider is asked for instances that it cannot give. After a refusal for lack of quota or capacity one machine asks again
 * for all that want the same, until one is created.
 */
import { canonicalJson } from '../../../../kube/objects/digest.ts';
import type { InstanceShape, ProviderError } from '../../../../providers/contract.ts';

export interface CapacityRefusal {
  readonly error: ProviderError;
  /** When a machine may ask again. */
  readonly until: Date;
}

export interface CapacityGate {
  /**
   * Returns the refusal that holds. Undefined: the machine may ask. When the time to ask again has come, one machine may, until its answer is
   * recorded or the next time has come.
   */
  take(key: string, machineUid: string, now: Date): CapacityRefusal | undefined;
  /** Records a refusal. */
  refuse(key: string, refused: CapacityRefusal): void;
  /** Records that an instance was created. */
  open(key: string): void;
}

/** The cause of a refusal clears at any time: it is noticed within this time. */
const CAPACITY_RETRY_MS = 10_000;

export function createCapacityGate(): CapacityGate {
  const refusals = new Map<string, CapacityRefusal & { readonly asks?: string }>();
  return {
    take(key, machineUid, now) {
      const found = refusals.get(key);
      if (!found || found.asks === machineUid) return undefined;
      if (now < found.until) return found;
      const until = new Date(now.getTime() + CAPACITY_RETRY_MS);
      refusals.set(key, { error: found.error, until, asks: machineUid });
      return undefined;
    },
    refuse: (key, refused) => void refusals.set(key, refused),
    open: (key) => void refusals.delete(key),
  };
}

/** Returns the key under which machines want the same of a provider. */
export function capacityKey(provider: string, { config, zone = '' }: InstanceShape): string {
  return canonicalJson([provider, zone, config]);
}
